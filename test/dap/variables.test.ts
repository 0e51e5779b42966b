import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import type { SitesResponse, TensorDataResponse, TensorsResponse } from '../../src/protocol/requests';
import { DIGITS, type Session, session } from './session';

async function atScan(): Promise<Session> {
  const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
  await s.stopped();
  return s;
}

describe('the call stack', () => {
  it('has one frame per module level, each with its line', async () => {
    const s = await atScan();
    const stack = await s.stack();
    expect(stack.map((f) => f.name)).toEqual([
      'selective_scan · forward',
      'Mamba layers.0.mixer',
      'Block layers.0',
      'VisionMamba',
    ]);
    expect(stack.map((f) => f.source?.name)).toEqual(['mixer.ts', 'mixer.ts', 'vim.ts', 'vim.ts']);
    for (const frame of stack) expect(frame.line).toBeGreaterThan(1);
  });

  it('comes in parts', async () => {
    const s = await atScan();
    const part = await s.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId: 1,
      startFrame: 1,
      levels: 2,
    });
    expect(part).toMatchObject({
      totalFrames: 4,
      stackFrames: [{ name: 'Mamba layers.0.mixer' }, { name: 'Block layers.0' }],
    });
  });
});

describe('variables', () => {
  it('shows the tensors of the scan by the names of the paper, a line each', async () => {
    const s = await atScan();
    const scan = await s.scope('Scan');
    expect(Object.keys(scan)).toEqual(['u', 'delta', 'A', 'B', 'C', 'D', 'z']);
    expect(scan['delta'].value).toMatch(
      /^\[1, \d+, \d+\] ∈ \[[\d.e-]+ [ ▁▂▃▄▅▆▇█]+ [\d.e-]+\] μ [\d.e-]+ σ [\d.e-]+$/,
    );
    expect(Object.keys(await s.scope('Parameters'))).toEqual(
      expect.arrayContaining(['A_log', 'conv1d.weight', 'out_proj.weight']),
    );
    expect(await s.scope('Run')).toMatchObject({
      layer: { value: '0' },
      direction: { value: 'forward' },
      pass: { value: 'forward' },
    });
  });

  it('opens a tensor into facts, statistics and paged values', async () => {
    const s = await atScan();
    const { delta } = await s.scope('Scan');
    const [batch, channels] = JSON.parse(/^\[[^\]]*\]/.exec(delta.value)![0]);
    expect(delta.indexedVariables).toBe(batch);
    const facts = await s.children(delta.variablesReference, { filter: 'named' });
    expect(facts['shape'].value).toMatch(/^\[B 1, D \d+, L \d+\]$/);
    expect(Object.keys(facts)).toEqual(['shape', 'strides', 'dtype', 'device', 'elements', 'statistics']);
    const statistics = await s.children(facts['statistics'].variablesReference);
    expect(Number(statistics['max'].value)).toBeCloseTo(Number(await s.evaluate('delta.max()')), 2);
    const rows = await s.children(delta.variablesReference, { filter: 'indexed', start: 0, count: 1 });
    const page = await s.children(rows['[0]'].variablesReference, {
      filter: 'indexed',
      start: channels - 2,
      count: 2,
    });
    expect(Object.keys(page)).toEqual([`[${channels - 2}]`, `[${channels - 1}]`]);
    const values = await s.children(page[`[${channels - 1}]`].variablesReference, {
      filter: 'indexed',
      start: 3,
      count: 2,
    });
    const exact = await s.evaluate(`delta[0, ${channels - 1}, 3].item()`, 'clipboard');
    expect(Number(values['[3]'].value)).toBeCloseTo(Number(exact), 7);
    expect(values['[3]'].evaluateName).toBe(`delta[0][${channels - 1}][3]`);
  });

  it('keeps the numbers of containers across stops, so that an open tree stays open', async () => {
    const s = await atScan();
    const before = await s.scope('Scan');
    await s.step('stepIn');
    await s.step('stepOut');
    await s.step('stepBack');
    const after = await s.scope('Scan');
    expect(after['delta'].variablesReference).toBe(before['delta'].variablesReference);
  });

  it('names the variables of the source in outer frames', async () => {
    const s = await atScan();
    expect(Object.keys(await s.scope('Locals', 1))).toEqual(expect.arrayContaining(['x', 'xz']));
    expect(Object.keys(await s.scope('Locals', 3))).toEqual(
      expect.arrayContaining(['patches', 'tokens', 'positioned']),
    );
    expect(await s.evaluate('patches.shape[1] + 1 == tokens.shape[1]', 'watch', 3)).toBe('True');
  });
});

describe('evaluate', () => {
  it.each(['watch', 'hover', 'repl'])('answers in %s', async (context) => {
    const s = await atScan();
    expect(await s.evaluate('delta', context)).toMatch(/^\[1, /);
    expect(await s.evaluate('1 + 2 * 3', context)).toBe('7');
    expect(await s.evaluate('(delta > 0).all()', context)).toMatch(/True|1/);
    expect(await s.evaluate('layers.0.mixer.A_log', context)).toMatch(/^\[\d+, \d+\] ∈/);
  });

  it('gives tensors that can be opened', async () => {
    const s = await atScan();
    const frameId = (await s.stack())[0].id;
    const body = await s.client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', {
      expression: 'delta * 2',
      frameId,
    });
    const facts = await s.children(body.variablesReference, { filter: 'named' });
    expect(facts['dtype'].value).toBe('float32');
  });

  it('refuses with one sentence', async () => {
    const s = await atScan();
    await expect(s.evaluate('dleta')).rejects.toThrow(/dleta.*delta/s);
    await expect(s.evaluate('import os')).rejects.toThrow();
    await expect(s.evaluate('delta.mxa()')).rejects.toThrow(/mxa/);
  });
});

describe('mamba/* requests', () => {
  it('lists the tensors of the site, and of the whole run', async () => {
    const s = await atScan();
    const site = await s.client.request<TensorsResponse>('mamba/tensors', {});
    expect(site.site).toMatchObject({ module: 'layers.0.mixer', op: 'selective_scan', direction: 'forward' });
    expect(site.tensors.filter((t) => t.role === 'scan').map((t) => t.name)).toEqual([
      'u',
      'delta',
      'A',
      'B',
      'C',
      'D',
      'z',
    ]);
    expect(site.tensors.find((t) => t.name === 'delta')).toMatchObject({ axes: ['B', 'D', 'L'] });
    const run = await s.client.request<TensorsResponse>('mamba/tensors', { scope: 'run' });
    expect(run.tensors.length).toBeGreaterThan(8);
  });

  it('leaves summaries out when the budget is spent, and says how many', async () => {
    const s = await atScan();
    const site = await s.client.request<TensorsResponse>('mamba/tensors', { budget: -1 });
    expect(site.leftOut).toBe(site.tensors.length);
    expect(site.tensors.every((t) => t.summary === null)).toBe(true);
  });

  it("gives a window of a tensor whose values are the tensor's", async () => {
    const s = await atScan();
    const { tensors, stop } = await s.client.request<TensorsResponse>('mamba/tensors', {});
    const { id } = tensors.find((t) => t.name === 'delta')!;
    const data = await s.client.request<TensorDataResponse>('mamba/tensorData', {
      id,
      stop,
      rowStart: 2,
      rowCount: 3,
      columnStart: 1,
      columnCount: 4,
    });
    expect(data).toMatchObject({ rows: 3, columns: 4, reduced: false });
    const bytes = Buffer.from(data.data, 'base64');
    for (const [r, c] of [
      [0, 0],
      [2, 3],
    ]) {
      const shown = bytes.readFloatLE(4 * (r * 4 + c));
      expect(await s.evaluate(`abs(delta[0, ${2 + r}, ${1 + c}].item() - ${shown}) < 1e-12`)).toBe('True');
    }
    await expect(s.client.request('mamba/tensorData', { id: 'v99999' })).rejects.toThrow(/not computed/);
    await expect(s.client.request('mamba/tensorData', { id: 'nonsense' })).rejects.toThrow(/not a tensor/);
    await expect(s.client.request('mamba/tensorData', { id, rowAxis: 17 })).rejects.toThrow(/axis/i);
  });

  it('says what can be broken on', async () => {
    const s = await atScan();
    const sites = await s.client.request<SitesResponse>('mamba/sites');
    expect(sites.boundaries).toEqual(['selective_scan', 'causal_conv1d']);
    expect(sites.modules).toEqual(
      expect.arrayContaining(['layers.0', 'layers.0.mixer', 'layers.0.mixer.in_proj', 'head']),
    );
    expect(sites.names['selective_scan']).toEqual(['u', 'delta', 'A', 'B', 'C', 'D', 'z']);
  });
});
