/** Names files that are often given by mistake. */
import type { ByteSource } from './source';

const SIGNATURES: [string, string][] = [
  [
    'version https://git-lfs',
    'a Git LFS pointer, not the file itself. Run "git lfs pull" where it was cloned.',
  ],
  ['<!doctype', 'a web page: the download saved a page instead of the file. Download the file itself.'],
  ['<html', 'a web page: the download saved a page instead of the file. Download the file itself.'],
  ['GGUF', 'a GGUF file. Use the safetensors or PyTorch file that it was made from.'],
  ['\x89HDF', 'an HDF5 file. Save the weights as safetensors.'],
  ['\x1f\x8b', 'compressed with gzip. Unpack it first.'],
  ['BZh', 'compressed with bzip2. Unpack it first.'],
  ['\xfd7zXZ', 'compressed with xz. Unpack it first.'],
  ['(\xb5/\xfd', 'compressed with zstd. Unpack it first.'],
  ['7z\xbc\xaf', 'a 7z archive. Unpack it first.'],
  ['GIF8', 'a GIF image. Save it as PNG.'],
  ['BM', 'a BMP image. Save it as PNG.'],
  ['II*\0', 'a TIFF image. Save it as PNG.'],
  ['MM\0*', 'a TIFF image. Save it as PNG.'],
];

/** What a file of no known format is, with what to do, or undefined. Reads its first bytes only. */
export function describeForeign(source: ByteSource): string | undefined {
  if (source.size === 0) return 'empty. Copy or download it again.';
  const start = String.fromCharCode(...source.read(0, Math.min(512, source.size)));
  const known = SIGNATURES.find(([signature]) => start.toLowerCase().startsWith(signature.toLowerCase()));
  if (known) return known[1];
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return 'a WebP image. Save it as PNG.';
  if (start.slice(257, 262) === 'ustar')
    return 'a tar archive, as very old PyTorch versions wrote. Load and save it again with a newer one.';
  if (/^\s*\{\s*"/.test(start))
    return 'a JSON file: a configuration or an index of shards. Choose the file with the weights.';
  return undefined;
}
