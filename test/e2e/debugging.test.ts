/** What a person does with Scanpoint, in a real VS Code with the packaged extension. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plant } from '../plantedCheckpoint';
import { type RunningVSCode, startVSCode } from '../setup/vscode.mjs';
import { Bench } from './bench';
import { digitLaunch, picture, ROOT, VSIX } from './workspace';

const ENTRY = /Paused at .* entry/;

let server: RunningVSCode;
const bench = new Bench(() => server);
beforeAll(async () => {
  server = await startVSCode({ workspace: `${ROOT}examples`, extension: VSIX });
});
afterEach(() => bench.close());
afterAll(() => server.stop());

describe('F5 on a digit', () => {
  it('stops where a condition on the scan holds, at the right layer and direction', async () => {
    const condition = 'layer == 2 and direction == "backward" and delta.max() > 0';
    const window = await bench.open(digitLaunch({ breakpoints: [{ name: 'selective_scan', condition }] }));
    await window.debug.start();
    expect((await window.callStack.frames()).map((f) => f.name)).toEqual([
      'selective_scan · backward',
      'Mamba layers.2.mixer',
      'Block layers.2',
      'VisionMamba',
    ]);
    expect(await window.callStack.stoppedText()).toBe('Paused at selective_scan entry');
    expect(await window.editor.debugPosition()).toMatchObject({ file: 'mixer.ts' });
    expect(await window.console.text()).toMatch(
      /layers\.2\.mixer, backward: delta\.max\(\) = [\d.e-]+ > 0 \(hit 1\)/,
    );
    const scan = await window.variables.expand('Scan');
    expect(scan.map((v) => v.name)).toEqual(['u', 'delta', 'A', 'B', 'C', 'D', 'z']);
    expect(scan[1].value).toMatch(/^\[1, 96, 65\] ∈ \[[\d.e-]+ .+ [\d.e-]+\] μ [\d.e-]+ σ [\d.e-]+$/);
    // VS Code asks for inline values only once there was a stop in an editor that is open.
    await window.debug.stepBack();
    await window.debug.stepOver();
    expect((await window.editor.inlineValues()).join('\n')).toMatch(/delta: \[1, 96, 65\]|delta /);
    await window.screenshot(picture('digit-condition'));
    expect(await window.editor.hover('delta')).toContain('[1, 96, 65]');
    await window.screenshot(picture('digit-condition'));
    await window.debug.continue();
    await window.debug.waitForEnd();
    expect(await window.console.text()).toMatch(/7 \d+(\.\d+)? % .*\(as labelled\)/);
  });

  it('steps into the scan, three steps forward in time and one back', async () => {
    const window = await bench.open(digitLaunch({ breakpoints: ['selective_scan'] }));
    await window.debug.start();
    await window.debug.stepInto();
    const at = async () => (await window.callStack.frames())[0].name;
    expect(await at()).toBe('selective_scan · forward · t 0');
    for (let i = 0; i < 3; i++) await window.debug.stepOver();
    expect(await at()).toBe('selective_scan · forward · t 3');
    await window.debug.stepBack();
    expect(await at()).toBe('selective_scan · forward · t 2');
    expect(await window.editor.debugPosition()).toMatchObject({ file: 'recurrence.ts' });
    const step = await window.variables.expand('Step');
    expect(step.find((v) => v.name === 't')?.value).toBe('2');
    expect(step.find((v) => v.name === 'h')?.value).toMatch(/^\[1, 96, 8\]/);
    await window.screenshot(picture('inside-the-scan'));
  });

  it('shows every tensor in the panel, and one as a heatmap and as values', async () => {
    const window = await bench.open(digitLaunch({ breakpoints: ['selective_scan'] }));
    await window.debug.start();
    await window.runCommand('View: Show Scanpoint');
    const panel = await window.webview(/class="row/);
    const row = panel.locator('[role=option]', { has: panel.locator('.leaf', { hasText: /^delta$/ }) });
    expect(await row.first().getAttribute('aria-label')).toContain('delta');
    await window.screenshot(picture('tensors-panel'));
    await row.first().click();
    await panel.locator('canvas').first().waitFor();
    await window.screenshot(picture('tensors-heatmap'));
    expect(await panel.locator('body').textContent()).toMatch(/6,240 values/);
    expect(window.webviewErrors).toEqual([]);
  });

  it('writes a log message to the Debug Console and does not stop', async () => {
    const logMessage = 'layer {layer} {direction}: delta up to {delta.max()}';
    const window = await bench.open(digitLaunch({ breakpoints: [{ name: 'selective_scan', logMessage }] }));
    await window.debug.pressF5();
    await window.debug.waitForEnd();
    const lines = (await window.console.text())
      .split('\n')
      .filter((line) => /layer \d (forward|backward): delta up to [\d.e-]+/.test(line));
    expect(lines).toHaveLength(6);
    await window.screenshot(picture('log-message'));
  });

  it('stops on the NaN that a planted parameter makes', async () => {
    const checkpoint = plant(
      `${ROOT}examples/vim_digits.safetensors`,
      'layers.1.mixer.dt_proj.weight',
      4,
      Number.NaN,
    );
    const window = await bench.open(digitLaunch({ checkpoint }));
    await window.debug.start();
    expect(await window.callStack.stoppedText()).toBe('Paused on NaN');
    expect(await window.console.text()).toMatch(/layers\.1\.mixer\.dt_proj.*holds 1 NaN, first at \[1, 1\]/s);
    const [first] = (await window.variables.expand('Inputs and outputs')).filter((v) =>
      v.value.includes('NaN'),
    );
    expect(first.value).toMatch(/· NaN \d+$/);
    await window.screenshot(picture('nan'));
  });
});

describe('without a launch.json', () => {
  it('"Debug the Example" runs the digit and stops at a scan', async () => {
    const window = await bench.open();
    window.debug.mark();
    await window.runCommand('Scanpoint: Debug the Example');
    await window.debug.waitForPaused();
    await window.screenshot(picture('example'));
    await window.showSideBar('Run and Debug');
    expect(await window.callStack.stoppedText()).toMatch(ENTRY);
  });

  it('F5 asks which model to debug', async () => {
    const window = await bench.open();
    await window.openFile('vim_digits.json');
    await window.debug.pressF5();
    expect(await window.quickInputText()).toContain('Which image');
    await window.screenshot(picture('f5-without-launch'));
    await window.selectQuickPick('digits/digit_3.png');
    await window.debug.waitForPaused();
    expect(await window.console.text()).toContain('digit_3.png');
  });
});

describe('breakpoints by hand', () => {
  it("can be set in the Breakpoints view and in the gutter of the model's source", async () => {
    const window = await bench.open(digitLaunch({ stopOnEntry: true }));
    await window.breakpoints.addFunction('layers.1.mixer', {});
    await window.breakpoints.addFunction('layers.9', {});
    await window.debug.start();
    const rows = await window.breakpoints.rows();
    expect(rows.find((r) => r.name === 'layers.9')).toMatchObject({ verified: false });
    await window.debug.continue();
    await window.debug.waitForPaused();
    expect(await window.callStack.stoppedText()).toBe('Paused at layers.1 entry');
    await window.debug.stepInto();
    await window.screenshot(picture('breakpoints-view'));
  });
});
