/** The backward pass and language models, in a real VS Code with the packaged extension. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningVSCode, startVSCode } from '../setup/vscode.mjs';
import { Bench } from './bench';
import { digitLaunch, picture, ROOT, VSIX } from './workspace';

let server: RunningVSCode;
const bench = new Bench(() => server);
beforeAll(async () => {
  server = await startVSCode({ workspace: `${ROOT}examples`, extension: VSIX });
});
afterEach(() => bench.close());
afterAll(() => server.stop());

describe('the backward pass', () => {
  it('stops at a scan in it, and steps through its recurrence backward in time', async () => {
    const breakpoints = [{ name: 'grad:selective_scan', condition: 'layer == 1 and direction == "forward"' }];
    const window = await bench.open(digitLaunch({ backward: true, breakpoints }));
    await window.debug.start();
    const names = async () => (await window.callStack.frames()).map((f) => f.name);
    expect((await names())[0]).toMatch(/gradient of selective_scan · forward/);
    await window.debug.stepInto();
    expect((await names())[0]).toMatch(/t 64/);
    await window.debug.stepOver();
    expect((await names())[0]).toMatch(/t 63/);
    expect(await window.editor.debugPosition()).toMatchObject({ file: 'recurrenceBackward.ts' });
    const step = await window.variables.expand('Step');
    expect(step.find((v) => v.name === 'dh')?.value).toMatch(/^\[1, 96, 8\]/);
    await window.screenshot(picture('inside-the-backward-scan'));
    await window.debug.stepBack();
    expect((await names())[0]).toMatch(/t 64/);
  });

  it('starts from a loss that is an expression, and names its gradients', async () => {
    const breakpoints = ['grad:layers.0.mixer.A_log'];
    const window = await bench.open(digitLaunch({ loss: 'logits[0, 7] - logits[0, 1]', breakpoints }));
    await window.debug.start();
    expect(await window.console.text()).toMatch(/grad/);
    const answer = await window.console.evaluate('grad.norm()');
    expect(Number(answer)).toBeGreaterThan(0);
    await window.screenshot(picture('loss-expression'));
  });
});

describe('a language model', () => {
  it('is debugged on a text, and writes on in the Debug Console', async () => {
    const window = await bench.open({
      type: 'mamba',
      request: 'launch',
      name: 'Language model',
      model: `${ROOT}test/fixtures/lm/tied`,
      text: 'The step decays',
      breakpoints: [{ name: 'selective_scan', condition: 'layer == 1' }],
    });
    await window.debug.start();
    const run = await window.variables.expand('Run');
    expect(run.find((v) => v.name === 'tokens')?.value).toMatch(/\|/);
    await window.console.evaluate('generate(5)');
    await window.screenshot(picture('generate'));
    expect(await window.console.text()).toMatch(/\d %/);
  });
});
