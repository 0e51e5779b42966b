import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../dap/client';
import { lineOf, pythonSession, script } from './pythonSession';
import { SCAN_PROGRAM } from './scanProgram';

const program = script(SCAN_PROGRAM, 'model.py');
const line = (mark: string) => lineOf(SCAN_PROGRAM, mark);

/** A session with the real agent that stops as the breakpoints say. */
async function stoppedAt(name: string, extras: object = {}) {
  const s = pythonSession(join(ROOT, 'runtime', 'agent'));
  await s.launch(program, { functions: [{ name, ...extras }] });
  const stop = await s.stopped();
  return { s, stop, thread: stop.threadId! };
}

describe('a line of a PyTorch program', () => {
  it('takes conditions in the words of scan breakpoints, and tells once what is wrong with one', async () => {
    const s = pythonSession(join(ROOT, 'runtime', 'agent'));
    await s.launch(program, {
      lines: [
        { line: line('after'), condition: 'y.absmax() > 1e9' },
        { line: line('last'), condition: 'nan(missing) > 0' },
        { line: line('print'), condition: 'out.absmax() > 0 and nan(out) == 0' },
      ],
    });
    const stop = await s.stopped();
    expect((await s.stack(stop.threadId!))[0].line).toBe(line('print'));
    expect(s.output.match(/condition fails: `nan\(missing\) > 0`/g)).toHaveLength(1);
  });
});

describe('a scan in a PyTorch program', () => {
  it('that is never found is told at the end, with what to do', async () => {
    const s = pythonSession(join(ROOT, 'runtime', 'agent'));
    await s.launch(script('print("no model here")\n'), {}, { breakpoints: ['selective_scan'] });
    await s.client.event('terminated');
    expect(s.output).not.toContain('cannot be set');
    expect(s.output).toContain('No selective_scan was found in this program');
    expect(s.output).toContain('Name your function in "scanFunctions"');
  });

  it('stops at its entry with its tensors, where a condition holds', async () => {
    const { s, stop, thread } = await stoppedAt('selective_scan', {
      condition: 'layer == 1 and delta.max() > 0',
    });
    expect(stop.description).toMatch(/^Paused at selective_scan entry/);
    expect(stop.hitBreakpointIds).toEqual([s.functionAnswers[0].id]);
    const frames = await s.stack(thread);
    expect(frames.slice(0, 3).map((f) => f.name)).toEqual(['selective_scan', 'forward', 'forward']);
    expect(frames[1].line).toBe(line('call'));
    const scan = await s.scope(thread, 'Scan');
    expect(scan['delta'].value).toMatch(/\[1, 4, 5\] ∈ \[/);
    const facts = await s.children(scan['delta'].variablesReference);
    expect(Object.keys(facts)).toContain('shape');
    expect(scan['A']).toMatchObject({ indexedVariables: 4 });
    expect(scan['A'].namedVariables).toBeGreaterThan(0);
    const page = { filter: 'indexed', start: 1, count: 2 };
    expect(Object.keys(await s.children(scan['A'].variablesReference, page))).toEqual(['[1]', '[2]']);
    const locals = await s.scope(thread, 'Locals');
    expect(locals['u'].value).toMatch(/\[1, 4, 5\] ∈ \[/);
    expect(await s.evaluate(thread, 'delta.shape[2]')).toBe('5');
    expect(await s.evaluate(thread, 'delta * 2', 'hover')).toMatch(/\[1, 4, 5\] ∈ \[/);
    expect(await s.evaluate(thread, 'delta', 'repl')).toContain('tensor([[[');
    await s.setFunctions([]);
    expect(await s.finish(thread)).toBe(0);
    expect(s.output).toMatch(/sum [\d.]+/);
  });

  it('is opened by a step, gone through in time, and left', async () => {
    const { s, thread } = await stoppedAt('selective_scan');
    expect(await s.step('stepIn', thread)).toMatchObject({ description: 'selective_scan · t 0' });
    await s.step('next', thread);
    const step = await s.scope(thread, 'Step');
    expect(step['t'].value).toBe('1');
    expect(Object.keys(step)).toContain('h');
    expect((await s.step('stepBack', thread)).description).toBe('selective_scan · t 0');
    const stack = await s.stack(thread);
    expect(stack[0].name).toBe('selective_scan · t 0');
    const tensors = await s.client.request<{ tensors: { id: string }[] }>('mamba/tensors', {
      frameId: stack[0].id,
    });
    expect(tensors.tensors.length).toBeGreaterThan(5);
    await s.setFunctions([]);
    await s.step('stepOut', thread);
    expect(await s.line(thread)).toBe(line('call'));
  });

  it('at its exit has its output, and the next step is one in the caller', async () => {
    const { s, thread } = await stoppedAt('selective_scan:exit');
    expect(await s.line(thread)).toBe(line('last'));
    expect(Object.keys(await s.scope(thread, 'Scan'))).toContain('y');
    await s.setFunctions([]);
    await s.step('next', thread);
    expect(await s.line(thread)).toBe(line('after'));
  });

  it('logs instead of stopping', async () => {
    const s = pythonSession(join(ROOT, 'runtime', 'agent'));
    await s.launch(program, {
      functions: [{ name: 'selective_scan | log layer {layer} at {delta.max() > 0}' }],
    });
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain('layer 0 at True');
    expect(s.output).toContain('layer 1 at True');
  });
});

describe('the trace log', () => {
  it('that the configuration asks for tells of each boundary', async () => {
    const s = pythonSession(join(ROOT, 'runtime', 'agent'));
    await s.launch(program, {}, { trace: 'boundaries' });
    await s.exited();
    const { body } = await s.client.event<{ body: { text: string } } & DebugProtocol.Event>('mamba/trace');
    expect(body.text).toContain('selective_scan');
  });
});

describe('a module', () => {
  it('stops by its path', async () => {
    const { s, stop, thread } = await stoppedAt('layers.1');
    expect(stop.description).toContain('layers.1');
    expect((await s.stack(thread))[0].name).toBe('forward');
  });
});
