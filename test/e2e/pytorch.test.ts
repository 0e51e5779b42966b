/** A PyTorch script of a person's own, unchanged, in a real VS Code with the packaged extension. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ensurePython } from '../setup/python.mjs';
import { type RunningVSCode, startVSCode } from '../setup/vscode.mjs';
import { Bench } from './bench';
import { picture, ROOT, VSIX } from './workspace';

let server: RunningVSCode;
let python: string;
const bench = new Bench(
  () => server,
  () => ({ 'python.defaultInterpreterPath': python }),
);
beforeAll(async () => {
  python = await ensurePython();
  server = await startVSCode({ workspace: `${ROOT}examples`, extension: VSIX });
});
afterEach(() => bench.close());
afterAll(() => server.stop());

/** The line of the script that holds a text, from 1. */
function lineOf(text: string): number {
  const lines = readFileSync(join(ROOT, 'examples', 'train_overflow.py'), 'utf8').split('\n');
  return 1 + lines.findIndex((line) => line.includes(text));
}

const script = (changes: Record<string, unknown>) => ({
  type: 'mamba',
  request: 'launch',
  name: 'Train',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code fills it in
  program: '${workspaceFolder}/train_overflow.py',
  python,
  console: 'internalConsole',
  ...changes,
});

describe('a training script', () => {
  it('stops at the scan of a layer and direction, with its tensors as lines', async () => {
    const condition = 'layer == 1 and direction == "backward" and delta.max() > 0';
    const window = await bench.open(script({ breakpoints: [{ name: 'selective_scan', condition }] }));
    await window.debug.start();
    const [top, ...below] = (await window.callStack.frames()).map((f) => f.name);
    expect(top).toBe('selective_scan');
    expect(below).toContain('train');
    expect(await window.callStack.stoppedText()).toBe('Paused at selective_scan entry');
    expect(await window.console.text()).toMatch(
      /layers\.1\.mixer, backward: delta\.max\(\) = [\d.e-]+ > 0 \(hit 1\)/,
    );
    expect(await window.editor.debugPosition()).toMatchObject({ file: 'vim_pytorch.py' });
    const scan = await window.variables.expand('Scan');
    expect(scan.map((v) => v.name)).toEqual(['u', 'delta', 'A', 'B', 'C', 'D', 'z']);
    expect(scan[1].value).toMatch(/^\[32, 96, 17\] ∈ \[/);
    await window.screenshot(picture('pytorch-scan'));
    await window.debug.stepInto();
    expect((await window.callStack.frames())[0].name).toMatch(/selective_scan · .*t 0/);
    await window.debug.stepOver();
    expect((await window.callStack.frames())[0].name).toMatch(/t 1/);
    await window.screenshot(picture('pytorch-inside-the-scan'));
    await window.debug.stepBack();
    expect((await window.callStack.frames())[0].name).toMatch(/t 0/);
    await window.runCommand('View: Show Scanpoint');
    const panel = await window.webview(/class="row/);
    const row = panel.locator('[role=option]', { has: panel.locator('.leaf', { hasText: /^delta$/ }) });
    await row.first().click();
    await panel.locator('canvas').first().waitFor();
    await window.screenshot(picture('pytorch-tensors'));
  });

  it('stops where the loss becomes NaN, and says where that was born', async () => {
    const window = await bench.open(script({}));
    await window.breakpoints.addFunction('selective_scan');
    await window.debug.start();
    await window.breakpoints.toggle('NaN produced');
    await window.breakpoints.toggle('Inf produced');
    await window.breakpoints.toggle('selective_scan');
    await window.debug.continue();
    await window.debug.waitForPaused();
    const console = await window.console.text();
    expect(console).toMatch(/layers\.\d\.mixer/);
    expect(console).toMatch(/input\[0\] has \d+ Inf, .* made by AddBackward0, then ToCopyBackward0/);
    await window.screenshot(picture('pytorch-nan'));
    await window.callStack.select('forward', 'train_overflow.py');
    await window.debug.settle();
    const locals = await window.variables.expand('Locals');
    expect(locals.find((v) => v.name === 'y')?.value).toMatch(/^float16 .*Inf \d+/);
    expect(locals.find((v) => v.name === 'y_b')?.value).not.toMatch(/Inf/);
    await window.screenshot(picture('tutorial-nan'));
  });
});

describe('plain Python', () => {
  it('stops at a breakpoint in the gutter, shows variables and evaluates', async () => {
    const window = await bench.open(script({}));
    await window.openFile('train_overflow.py');
    const line = lineOf('optimizer.zero_grad()');
    await window.editor.setBreakpoint(line);
    await window.debug.start();
    expect(await window.editor.debugPosition()).toMatchObject({ file: 'train_overflow.py', line });
    const locals = await window.variables.expand('Locals');
    expect(locals.find((v) => v.name === 'step')?.value).toBe('0');
    expect(locals.find((v) => v.name === 'images')?.value).toMatch(/^\[1797, 1, 16, 16\] ∈ \[0 .* 1\]/);
    expect(await window.console.evaluate('step + 41')).toBe('41');
    await window.debug.continue();
    await window.debug.waitForPaused();
    expect(await window.console.evaluate('step + 41')).toBe('42');
    await window.screenshot(picture('pytorch-plain'));
  });

  it('is what F5 on a Python file offers', async () => {
    const window = await bench.open();
    await window.openFile('train_overflow.py');
    await window.debug.pressF5();
    await window.debug.waitForPaused();
    expect((await window.callStack.frames())[0].name).toBe('selective_scan');
    await window.screenshot(picture('pytorch-f5'));
  });

  it('asks before it installs a debugpy that is missing, and says what to do when it may not', async () => {
    // Without its site-packages this Python has no debugpy.
    const window = await bench.open(script({ python: [python, '-S'] }));
    await window.debug.begin();
    expect(await window.waitForNotification('debugpy is not installed')).toContain(
      "Install it into a folder of Scanpoint's own?",
    );
    await window.screenshot(picture('pytorch-no-debugpy'));
    await window.dismissNotification();
    await window.page.locator('.monaco-dialog-box').waitFor();
    expect(await window.dialogText()).toMatch(/install it with ".* -m pip install -U debugpy"/);
  });
});
