/** Bundles the extension, the adapter, the engine's thread, the command line, the kernels and the webviews into dist/. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import asc from 'assemblyscript/asc';
import { build } from 'esbuild';

const minify = process.argv.includes('--minify');
await rm('dist', { recursive: true, force: true });

const shared = { bundle: true, minify, keepNames: true, logLevel: 'warning', legalComments: 'eof' };
const node = { ...shared, platform: 'node', target: 'node20', format: 'cjs' };

const mapped = { outdir: 'dist', sourcemap: true, sourcesContent: false };

/** The SIMD kernels in two builds; they run on memory that the caller gives and may share. */
async function buildKernels(build, features) {
  const flags = [
    ...['--outFile', `dist/kernels.${build}.wasm`],
    ...features.flatMap((feature) => ['--enable', feature]),
    ...['-O3', '--runtime', 'stub', '--noAssert'],
    ...['--importMemory', '--sharedMemory', '--initialMemory', '1', '--maximumMemory', '65536'],
  ];
  const { error, stderr } = await asc.main(['runtime/kernels/assembly/index.ts', ...flags]);
  if (error) throw new Error(`The kernels do not compile: ${stderr.toString()}`);
}

await Promise.all([
  buildKernels('strict', ['simd', 'threads']),
  buildKernels('relaxed', ['simd', 'threads', 'relaxed-simd']),
  build({
    ...node,
    entryPoints: { extension: 'src/extension/extension.ts' },
    outdir: 'dist',
    external: ['vscode'],
  }),
  build({ ...node, entryPoints: { 'kernels.helper': 'runtime/kernels/native/helper.ts' }, outdir: 'dist' }),
  build({ ...node, entryPoints: { adapter: 'src/adapter/main.ts' }, outdir: 'dist' }),
  // The map tells which line of runtime/models built an op, so it is part of the product.
  build({ ...node, ...mapped, entryPoints: { engine: 'src/adapter/engine/worker.ts' } }),
  build({
    ...node,
    ...mapped,
    entryPoints: { cli: 'src/cli/main.ts' },
    loader: { '.py': 'text' },
    banner: { js: '#!/usr/bin/env node' },
  }),
  build({
    ...shared,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryPoints: { 'webview/tensors': 'webview/tensors/main.tsx' },
    outdir: 'dist',
  }),
]);

/**
 * Keeps of a bundle's map only what lies in runtime/models: that is all that is shown, and reading a whole map would
 * take longer than building the model. Code of other files is marked as having no source.
 */
async function keepModels(bundle) {
  const path = `dist/${bundle}.js.map`;
  const map = JSON.parse(await readFile(path, 'utf8'));
  const shown = map.sources.map((source) => source.includes('runtime/models/'));
  let last = false;
  const mappings = decode(map.mappings).map((line) =>
    line.flatMap((segment) => {
      const kept = segment.length > 1 && shown[segment[1]];
      const needed = kept || last;
      last = kept;
      return needed ? [kept ? segment.slice(0, 4) : [segment[0]]] : [];
    }),
  );
  await writeFile(path, JSON.stringify({ ...map, names: [], mappings: encode(mappings) }));
}

await Promise.all(['engine', 'cli'].map(keepModels));
