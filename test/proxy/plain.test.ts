import { describe, expect, it } from 'vitest';
import { lineOf, pythonSession, script } from './pythonSession';

const PROGRAM = `import threading

class Vague:
    def __bool__(self):
        raise ValueError("more than one element")

def square(x):
    y = x * x
    return y  # return

def work(numbers):
    total = 0
    for n in numbers:
        total += square(n)  # loop
    return total

vague = Vague()
result = work([1, 2, 3, 4])  # call
worker = threading.Thread(target=work, args=([5],))
worker.start()
worker.join()
print("result", result)  # print
`;
const program = script(PROGRAM);
const line = (mark: string) => lineOf(PROGRAM, mark);

/** A session that stands at the first line \`loop\`. */
async function atLoop() {
  const s = pythonSession();
  await s.launch(program, { lines: [{ line: line('loop') }] });
  return { s, thread: (await s.stopped()).threadId! };
}

describe('a Python program', () => {
  it('stops at a breakpoint, shows its variables, and ends', async () => {
    const { s, thread } = await atLoop();
    expect(s.lineAnswers).toMatchObject([{ verified: true, line: line('loop') }]);
    expect(s.lineAnswers[0].id).toBeGreaterThan(0);
    expect((await s.stack(thread)).map((f) => f.name)).toEqual(['work', '<module>']);
    expect(await s.scope(thread, 'Locals')).toMatchObject({ total: { value: '0' }, n: { value: '1' } });
    await s.setLines(program, []);
    expect(await s.finish(thread)).toBe(0);
    expect(s.output).toContain('result 30');
  });

  it('steps into, out and over', async () => {
    const { s, thread } = await atLoop();
    await s.setLines(program, []);
    await s.step('stepIn', thread);
    expect((await s.stack(thread))[0].name).toBe('square');
    await s.step('stepOut', thread);
    expect(await s.line(thread)).toBe(line('loop'));
    await s.step('next', thread);
    expect(await s.line(thread)).toBe(line('loop') - 1);
  });

  it('names the breakpoint that was hit by the number it was given', async () => {
    const s = pythonSession();
    await s.launch(program, { lines: [{ line: line('print') }, { line: line('return') }] });
    const { hitBreakpointIds } = await s.stopped();
    expect(hitBreakpointIds).toEqual([s.lineAnswers[1].id]);
    expect(new Set(s.lineAnswers.map((b) => b.id)).size).toBe(2);
  });

  it('evaluates, completes and sets variables', async () => {
    const { s, thread } = await atLoop();
    expect(await s.evaluate(thread, 'n + 41')).toBe('42');
    expect(await s.evaluate(thread, '"é😀" * 2', 'repl')).toBe("'é😀é😀'");
    await expect(s.evaluate(thread, 'nothing')).rejects.toThrow("name 'nothing' is not defined");
    const [{ id: frameId }] = await s.stack(thread);
    const { targets } = await s.client.request<{ targets: { label: string }[] }>('completions', {
      text: 'numb',
      column: 5,
      frameId,
    });
    expect(targets.map((t) => t.label)).toContain('numbers');
    const locals = (await s.scopes(frameId)).find((scope) => scope.name === 'Locals')!;
    await s.client.request('setVariable', {
      variablesReference: locals.variablesReference,
      name: 'total',
      value: '100',
    });
    await s.setLines(program, []);
    await s.finish(thread);
    expect(s.output).toContain('result 130');
  });

  it('stops in a function of the name and in a second thread', async () => {
    const s = pythonSession();
    await s.launch(program, { functions: [{ name: 'square', condition: 'x == 5' }] });
    expect(s.functionAnswers).toMatchObject([{ verified: true }]);
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Locals'))['x'].value).toBe('5');
    const { threads } = await s.client.request<{ threads: { id: number; name: string }[] }>('threads');
    expect(threads.length).toBe(2);
    expect(threads.find((t) => t.id === threadId)!.name).not.toBe('MainThread');
  });

  it('passes arguments, the environment, an environment file and the folder on', async () => {
    const path = script(
      'import os, sys\nprint(sys.argv[1:], os.environ["A"], os.environ["B"], os.path.basename(os.getcwd()), "ELECTRON_RUN_AS_NODE" in os.environ)\n',
    );
    const envFile = script('export A="from file"\nB=file # comment\n', '.env');
    const s = pythonSession();
    await s.launch(path, {}, { args: ['x', 'y z'], env: { B: 'own' }, envFile, cwd: '/tmp' });
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain("['x', 'y z'] from file own tmp False");
  });

  it('runs without debugging', async () => {
    const s = pythonSession();
    await s.client.request('initialize', { adapterID: 'mamba' });
    await s.client.request('launch', {
      program,
      noDebug: true,
      python: (await import('./pythonSession')).PYTHON,
    });
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain('result 30');
  });

  it('stops where it begins when asked, and where it is paused', async () => {
    const path = script('import time\nwhile True:\n    time.sleep(0.01)\n');
    const s = pythonSession();
    await s.launch(path, {}, { stopOnEntry: true });
    const { reason, threadId } = await s.stopped();
    expect(reason).toBe('entry');
    await s.client.request('continue', { threadId });
    await s.client.request('pause', { threadId });
    expect((await s.stopped()).reason).toBe('pause');
  });
});

describe('conditions', () => {
  it('stops only where they hold', async () => {
    const s = pythonSession();
    await s.launch(program, { lines: [{ line: line('loop'), condition: 'n == 3 # the third' }] });
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Locals'))['n'].value).toBe('3');
  });

  it('without a truth value leave the program alone', async () => {
    const s = pythonSession();
    await s.launch(program, { lines: [{ line: line('loop'), condition: 'vague' }] });
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain('result 30');
    expect(s.output).toContain('more than one element');
  });

  it('that are no Python are refused when they are set, and the others work', async () => {
    const s = pythonSession();
    await s.launch(program, {
      lines: [
        { line: line('loop'), condition: 'n ==' },
        { line: line('return'), condition: 'x == 2' },
        { line: line('print'), logMessage: 'got {result +}' },
        { line: line('call'), hitCondition: 'often' },
      ],
    });
    expect(s.lineAnswers.map((b) => b.verified)).toEqual([false, true, false, false]);
    expect(s.lineAnswers[0].message).toMatch(/^This is no Python expression: .*\.$/);
    expect(s.lineAnswers[3].message).toContain('"often"');
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Locals'))['x'].value).toBe('2');
  });

  it('of hit counts stop at the hit, from it on, and at every so many', async () => {
    const s = pythonSession();
    const setup = {
      lines: [
        { line: line('loop'), hitCondition: '2' },
        { line: line('return'), hitCondition: '% 4' },
      ],
    };
    await s.launch(program, setup);
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Locals'))['n'].value).toBe('2');
    await s.step('continue', threadId!);
    expect((await s.scope(threadId!, 'Locals'))['x'].value).toBe('4');
    await s.setLines(program, [{ line: line('loop'), hitCondition: '>= 1' }]);
    const { threadId: worker } = await s.step('continue', threadId!);
    expect((await s.scope(worker!, 'Locals'))['n'].value).toBe('5');
  });

  it('with a hit count counts the hits where the condition holds', async () => {
    const s = pythonSession();
    await s.launch(program, { lines: [{ line: line('loop'), condition: 'n % 2 == 0', hitCondition: '2' }] });
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Locals'))['n'].value).toBe('4');
    expect(await s.finish(threadId!)).toBe(0);
  });

  it('logs instead of stopping', async () => {
    const s = pythonSession();
    await s.launch(program, {
      lines: [{ line: line('loop'), logMessage: 'n is {n}', condition: 'n < 3' }],
    });
    await s.exited();
    expect(s.output).toContain('n is 1');
    expect(s.output).toContain('n is 2');
    expect(s.output).not.toContain('n is 3');
  });
});

describe('exceptions', () => {
  const RAISES =
    'def f():\n    raise KeyError("lost")  # raise\n\ntry:\n    f()\nexcept KeyError:\n    pass\nf()\n';
  const path = script(RAISES);

  it('stops where one is raised, also when asked by filterOptions', async () => {
    const s = pythonSession();
    await s.launch(path, { filterOptions: [{ filterId: 'raised' }] });
    const { reason, threadId } = await s.stopped();
    expect(reason).toBe('exception');
    expect(await s.line(threadId!)).toBe(lineOf(RAISES, 'raise'));
    expect(await s.client.request('exceptionInfo', { threadId })).toMatchObject({
      exceptionId: 'KeyError',
      breakMode: 'always',
    });
  });

  it('stops only where one is not caught', async () => {
    const s = pythonSession();
    await s.launch(path, { filters: ['uncaught'] });
    const { threadId } = await s.stopped();
    expect((await s.stack(threadId!)).at(-1)!.line).toBe(8);
    expect(await s.finish(threadId!)).toBe(1);
  });

  it('knows the filters of both debuggers, and says which it does not know', async () => {
    const s = pythonSession();
    await s.launch(path, {
      filters: ['raised', 'nan', 'none'],
      filterOptions: [{ filterId: 'exploding', condition: 'x' }],
    });
    expect(s.filterAnswers.map((b) => b.verified)).toEqual([true, true, false, false]);
    expect(s.filterAnswers[2].message).toBe('There is no filter "none".');
  });
});
