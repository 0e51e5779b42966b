import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { pythonSession, script } from './pythonSession';

const PROGRAM = `import scanpoint_agent as agent

class Pair:
    """Has children, so that debugpy gives it a number."""
    def __init__(self):
        self.tensor = [1]
        self.other = [2]

tensor = Pair()
pair = Pair()
agent.stop(probeIds=[7])
agent.stop("causal_conv1d")
agent.stop(phase="exit")
agent.stop(reason="exception", description="NaN produced", text="NaN 12")
print("done")
`;

const program = script(PROGRAM);
const line = (text: string) => PROGRAM.split('\n').findIndex((l) => l.startsWith(text)) + 1;

/** A session at the entry of a scan. */
async function atScan() {
  const s = pythonSession();
  await s.launch(program);
  const stop = await s.stopped();
  return { s, stop, thread: stop.threadId! };
}

async function names(s: ReturnType<typeof pythonSession>, thread: number) {
  return (await s.stack(thread)).map((f) => f.name);
}

describe('a stop of the agent', () => {
  it('comes in its words, with the breakpoints that it names', async () => {
    const { s, stop, thread } = await atScan();
    expect(stop).toMatchObject({
      reason: 'breakpoint',
      description: 'Paused at selective_scan entry',
      text: 'because',
      hitBreakpointIds: [7],
      allThreadsStopped: true,
    });
    expect(await s.line(thread)).toBe(line('agent.stop(probeIds'));
    expect(s.output).toContain('Paused at selective_scan entry: because');
  });

  it('shows our scopes before debugpy’s, and only those of the time step in a scan', async () => {
    const { s, thread } = await atScan();
    const [top] = await s.stack(thread);
    expect((await s.scopes(top.id)).map((x) => x.name)).toEqual(['Scan', 'Locals', 'Globals']);
    const { h } = await s.scope(thread, 'Scan');
    expect(h.value).toBe('h at 0 in scan');
    expect((await s.children(h.variablesReference))['shape'].value).toBe('[2, 3] at scan:h');
  });

  it('leaves no trace in what the program sees', async () => {
    const path = script(
      'import sys\nprint(sys.argv[0] == __file__, sorted(n for n in globals() if n.startswith("_a")))\n',
    );
    const s = pythonSession();
    await s.launch(path);
    await s.exited();
    expect(s.output).toContain('True []');
  });

  it('explains a non-finite value where a client asks for the exception', async () => {
    const { s, thread } = await atScan();
    for (let i = 0; i < 2; i++) await s.step('continue', thread);
    expect((await s.step('continue', thread)).reason).toBe('exception');
    expect(await s.client.request('exceptionInfo', { threadId: thread })).toEqual({
      exceptionId: 'NaN produced',
      description: 'NaN 12',
      breakMode: 'always',
      details: { message: 'NaN 12' },
    });
  });
});

describe('variables', () => {
  it('that the agent knows better are rewritten, at every depth', async () => {
    const { s, thread } = await atScan();
    const locals = await s.scope(thread, 'Locals');
    expect(locals['tensor']).toMatchObject({ value: 'float32 [2, 3]', type: 'Tensor' });
    expect(locals['pair'].type).toBe('Pair');
    const inside = await s.children(locals['pair'].variablesReference);
    expect(inside['tensor'].value).toBe('float32 [2, 3]');
    expect(inside['other'].value).toBe('[2]');
  });

  it('have the agent’s children, which open in turn', async () => {
    const { s, thread } = await atScan();
    const { tensor } = await s.scope(thread, 'Locals');
    const first = await s.children(tensor.variablesReference);
    expect(first).toMatchObject({
      shape: { value: '[2, 3] at ', variablesReference: 0 },
      grad: { value: 'float32 [2, 3]', indexedVariables: 2 },
    });
    const second = await s.children(first['grad'].variablesReference);
    expect(second['shape'].value).toBe('[2, 3] at reference.grad');
    await expect(
      s.client.request('setVariable', {
        variablesReference: first['grad'].variablesReference,
        name: 'shape',
        value: '1',
      }),
    ).rejects.toThrow('computed by Scanpoint');
  });

  it('are rewritten in a hover and a watch, not in the console', async () => {
    const { s, thread } = await atScan();
    expect(await s.evaluate(thread, 'tensor', 'hover')).toBe('rewritten');
    expect(await s.evaluate(thread, 'tensor', 'watch')).toBe('rewritten');
    expect(await s.evaluate(thread, 'tensor', 'repl')).toContain('Pair object');
    expect(await s.evaluate(thread, '1 + 1', 'watch')).toBe('2');
  });

  it('are debugpy’s when the agent fails, or does not answer in time', async () => {
    for (const answer of ['lambda args: 1 / 0', 'lambda args: "no reply"', 'lambda args: 3']) {
      const s = pythonSession();
      await s.launch(script(`fake_answers = {"rewrite": ${answer}}\n${PROGRAM}`));
      const { threadId } = await s.stopped();
      expect((await s.scope(threadId!, 'Locals'))['tensor'].value).toContain('Pair object');
    }
  });
});

describe('function breakpoints', () => {
  it('go to the debugger that knows them, in the order asked', async () => {
    const s = pythonSession();
    await s.launch(program, {
      functions: [
        { name: 'selective_scan', condition: 'delta.max() > 1' },
        { name: 'never_called' },
        { name: 'layers.*.mixer:exit | log {x}' },
        { name: 'what is this' },
        { name: 'square', condition: '1 +' },
        { name: 'no.such' },
      ],
    });
    const [scan, python, module, , wrong, missing] = s.functionAnswers;
    expect(s.functionAnswers[3].message).toContain('"what is this" is neither a boundary');
    expect(python.verified).toBe(true);
    expect(wrong).toMatchObject({ verified: false });
    await s.stopped();
    // The agent's word comes once the program runs.
    const verified = async (id: number | undefined) =>
      (
        await s.client.event<DebugProtocol.BreakpointEvent>(
          'breakpoint',
          0,
          (e) => e.body.breakpoint.id === id,
        )
      ).body.breakpoint;
    expect(await verified(scan.id)).toMatchObject({ verified: true });
    expect(await verified(module.id)).toMatchObject({ verified: true });
    expect(await verified(missing.id)).toMatchObject({
      verified: false,
      message: 'There is no such module.',
    });
  });

  it('set while the program stands are answered at once', async () => {
    const { s } = await atScan();
    await s.setFunctions([{ name: 'layers.0.mixer' }, { name: 'no.such' }]);
    expect(s.functionAnswers).toMatchObject([{ verified: true }, { verified: false }]);
    await s.setFunctions([]);
    expect(s.functionAnswers).toEqual([]);
  });

  it('of the launch configuration are set, and complained about when they cannot be', async () => {
    const s = pythonSession();
    await s.launch(program, {}, { breakpoints: ['selective_scan', 'no.such', { name: 'x y' }] });
    await s.stopped();
    expect(s.output).toContain('"x y" of the launch configuration cannot be set');
    expect(s.output).toContain(
      '"no.such" of the launch configuration cannot be set: There is no such module.',
    );
  });
});

describe('an open scan', () => {
  async function inScan() {
    const { s, thread } = await atScan();
    const stop = await s.step('stepIn', thread);
    return { s, thread, stop };
  }

  it('begins with a step into the entry, and shows its step as the top frame', async () => {
    const { s, thread, stop } = await inScan();
    expect(stop).toMatchObject({
      reason: 'step',
      description: 'selective_scan · t 0',
      text: 'difference 1e-7',
    });
    expect(await names(s, thread)).toEqual(['selective_scan · t 0', '<module>']);
    const [top] = await s.stack(thread);
    expect((await s.scopes(top.id)).map((x) => x.name)).toEqual(['Step']);
    expect(await s.scope(thread, 'Step')).toMatchObject({ h: { value: 'h at 0 in step' } });
    expect(await s.evaluate(thread, 'pair.other[0]')).toBe('2');
    const page = { threadId: thread, startFrame: 1, levels: 1 };
    const { stackFrames } = await s.client.request<{ stackFrames: { name: string }[] }>('stackTrace', page);
    expect(stackFrames.map((f) => f.name)).toEqual(['<module>']);
  });

  it('steps, steps back, and goes to a time step', async () => {
    const { s, thread } = await inScan();
    expect(await s.step('next', thread)).toMatchObject({
      description: 'selective_scan · t 1',
      text: 'h of 1',
    });
    await s.step('stepIn', thread);
    expect((await s.step('stepBack', thread)).description).toBe('selective_scan · t 1');
    await s.client.request('mamba/seekScan', { t: 4 });
    expect((await s.stopped()).description).toBe('selective_scan · t 4');
    await expect(s.client.request('mamba/seekScan', { t: 5 })).rejects.toThrow('0 to 4');
    expect((await s.step('reverseContinue', thread)).description).toBe('selective_scan · t 0');
  });

  it('is left behind its last step, and by continuing', async () => {
    const { s, thread } = await inScan();
    await s.client.request('mamba/seekScan', { t: 4 });
    await s.stopped();
    await s.step('next', thread);
    expect(await names(s, thread)).toEqual(['<module>']);
    expect(await s.line(thread)).toBe(line('agent.stop("causal'));
    await expect(s.client.request('stepBack', { threadId: thread })).rejects.toThrow('Only a scan');
    const flags = s.client.received
      .filter(
        (m): m is DebugProtocol.CapabilitiesEvent => (m as DebugProtocol.Event).event === 'capabilities',
      )
      .map((m) => m.body.capabilities.supportsStepBack);
    expect(flags.slice(-2)).toEqual([true, false]);
  });

  it('is run on to where a step breakpoint holds', async () => {
    const { s, thread } = await inScan();
    await s.setFunctions([{ name: 'selective_scan:step', condition: 'h.absmax() > 3' }]);
    expect((await s.step('continue', thread)).description).toBe('selective_scan · t 3');
    await s.setFunctions([]);
    expect((await s.step('continue', thread)).description).toBe('Paused at causal_conv1d entry');
  });

  it('that cannot be opened says why, and the step goes on in Python', async () => {
    const s = pythonSession();
    const refuses = 'def refuse(args):\n    raise ValueError("its inputs are gone")\n';
    await s.launch(script(`${refuses}fake_answers = {"openScan": refuse}\n${PROGRAM}`));
    const { threadId } = await s.stopped();
    await s.step('stepIn', threadId!);
    expect(s.output).toContain('The scan cannot be opened: its inputs are gone');
    expect(await names(s, threadId!)).toEqual(['<module>']);
  });
});

describe('a step at a boundary', () => {
  it('into one that is no scan goes to the next line', async () => {
    const { s, thread } = await atScan();
    await s.step('continue', thread);
    await s.step('stepIn', thread);
    expect(await s.line(thread)).toBe(line('agent.stop(phase="exit")'));
  });
});

describe('the death of the program', () => {
  it('at a stop, in an open scan and amid a request leaves nothing unanswered', async () => {
    const { s, thread } = await atScan();
    await s.step('stepIn', thread);
    const [{ id: frameId }] = await s.stack(thread);
    const pid = Number(await s.evaluate(thread, '__import__("os").getpid()'));
    const open = [
      s.client.send('evaluate', { expression: '__import__("time").sleep(30)', frameId, context: 'repl' }),
      s.client.send('mamba/tensors', { frameId }),
    ];
    process.kill(pid, 'SIGKILL');
    await s.client.event('terminated');
    const later = ['next', 'stepBack', 'stackTrace', 'mamba/tensors', 'threads', 'variables'];
    const sent = later.map((command) => s.client.send(command, { threadId: thread, variablesReference: 5 }));
    await Promise.all([...open, ...sent].map((seq) => s.client.response(seq)));
  });
});

describe('requests of the views', () => {
  it('are answered by the agent', async () => {
    const { s, thread } = await atScan();
    const [top] = await s.stack(thread);
    expect(await s.client.request('mamba/tensors', { frameId: top.id, budget: 5 })).toMatchObject({
      args: { frameId: top.id, budget: 5 },
    });
    await s.step('stepIn', thread);
    const [scan] = await s.stack(thread);
    expect(await s.client.request('mamba/tensors', { frameId: scan.id })).toMatchObject({
      args: { frameId: top.id },
    });
    expect(await s.client.request('mamba/sites')).toMatchObject({ layers: 0 });
    await expect(s.client.request('mamba/gradients')).rejects.toThrow('gradients');
  });

  it('that debugpy would leave unanswered are answered here', async () => {
    const { s, thread } = await atScan();
    for (const command of ['breakpointLocations', 'restartFrame', 'readMemory', 'loadedSources', 'restart'])
      await expect(s.client.request(command, {})).rejects.toThrow(`does not know the request "${command}"`);
    expect(await names(s, thread)).toEqual(['<module>']);
  });

  it('can be cancelled', async () => {
    const { s, thread } = await atScan();
    const [{ id: frameId }] = await s.stack(thread);
    const expression = '__import__("time").sleep(30)';
    const seq = s.client.send('evaluate', { expression, frameId, context: 'repl' });
    await s.client.request('cancel', { requestId: seq });
    expect(await s.client.response(seq)).toMatchObject({ success: false, message: 'cancelled' });
  });
});
