import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../setup/vscode.mjs';
import { lineOf, PYTHON, pythonSession, script } from './pythonSession';

const programs: ChildProcess[] = [];

afterEach(() => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
});

const TICKS = `import time, sys
def tick(i):
    print("tick", i, flush=True)  # tick
for i in range(2000):
    tick(i)
    time.sleep(0.02)
`;

/** A program that listens for a debugger, and what it has printed. */
async function listening(text = TICKS) {
  const port = await freePort();
  const path = script(text);
  const program = spawn(PYTHON, ['-m', 'debugpy', '--listen', String(port), path]);
  programs.push(program);
  // Why a program ended that should not have.
  program.stderr!.on('data', (chunk) => console.error(String(chunk)));
  program.on(
    'exit',
    (code, signal) => signal !== 'SIGKILL' && console.error(`it ended with ${code ?? signal}`),
  );
  let printed = '';
  program.stdout!.on('data', (chunk) => {
    printed += chunk;
  });
  for (const deadline = Date.now() + 20_000; !printed && Date.now() < deadline; ) await sleep(20);
  return { port, path, program, printed: () => printed };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('attach', () => {
  it('to a process that listens stops in it, and leaves it running', async () => {
    const { port, path, program, printed } = await listening();
    const s = pythonSession();
    await s.open('attach', { connect: { port } });
    await s.configure(path, { lines: [{ line: lineOf(TICKS, 'tick') }] });
    const { threadId } = await s.stopped();
    expect(await s.scope(threadId!, 'Locals')).toHaveProperty('i');
    const calls = '[c["method"] for c in __import__("scanpoint_agent").CALLS]';
    expect(await s.evaluate(threadId!, calls, 'repl')).toContain("'start'");
    await s.client.request('disconnect', {});
    const before = printed().length;
    await expect.poll(() => printed().length, { timeout: 10_000 }).toBeGreaterThan(before);
    expect(program.exitCode).toBeNull();

    // The agent was told to go, and a second session can come.
    const again = pythonSession();
    await again.open('attach', { connect: { port } });
    await again.configure(path, { lines: [{ line: lineOf(TICKS, 'tick') }] });
    const stop = await again.stopped();
    expect(await again.evaluate(stop.threadId!, calls, 'repl')).toMatch(/'start'.*'detach'.*'start'/);
  });

  it('to a port where nobody listens says so', async () => {
    const port = await freePort();
    const s = pythonSession();
    await expect(s.open('attach', { connect: { port } })).rejects.toThrow(
      `Nothing listens at 127.0.0.1:${port}; start the program with`,
    );
  });

  it('to something that is no debugpy is given up when it hangs up', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const s = pythonSession();
    await expect(s.open('attach', { connect: { port } })).rejects.toThrow('debugpy closed the connection.');
    server.close();
  });

  it('to a process that does not exist, or may not be traced, fails with a sentence', async () => {
    const s = pythonSession();
    await expect(s.open('attach', { processId: 2 ** 22 + 1, python: PYTHON })).rejects.toThrow(
      'There is no process 4194305.',
    );
    const other = pythonSession();
    // The adapter itself is no Python.
    const processId = other.client.process.pid;
    await expect(other.open('attach', { processId, python: PYTHON })).rejects.toThrow(
      'could not be attached to',
    );
  });
});

const SPAWNS = `import multiprocessing as mp, os, sys
def work(x):
    print("child", x, flush=True)  # child
if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    child = context.Process(target=work, args=(5,))
    child.start()
    child.join(20)
    print("exit code", child.exitcode, flush=True)
`;

describe('child processes', () => {
  const path = script(SPAWNS);
  const childLine = lineOf(SPAWNS, 'child');

  it.each(['spawn', 'fork'])('started by %s get sessions of ours', async (method) => {
    const s = pythonSession(undefined, [], { supportsStartDebuggingRequest: true });
    await s.launch(path, {}, { args: [method], type: 'mamba', trace: 'modules' });
    // Beside the child there is Python's own process that looks after shared memory.
    const stops: string[] = [];
    const follow = async (configuration: Record<string, unknown>) => {
      expect(configuration).toMatchObject({ type: 'mamba', trace: 'modules', request: 'attach' });
      const child = pythonSession();
      await child.open('attach', configuration);
      await child.configure(path, { lines: [{ line: childLine }] });
      const { threadId } = await child.stopped();
      stops.push((await child.scope(threadId!, 'Locals'))['x'].value);
      const calls = '[c["method"] for c in __import__("scanpoint_agent").CALLS]';
      expect(await child.evaluate(threadId!, calls, 'repl')).toContain("'start'");
      await child.client.request('continue', { threadId });
    };
    const following = s.onReverse('startDebugging', true, (args) =>
      follow(args['configuration'] as Record<string, unknown>).catch(() => {}),
    );
    expect(await s.exited()).toBe(0);
    following.stop();
    expect(s.output).toContain('exit code 0');
    expect(stops).toEqual(['5']);
  });

  it('run on when the client refuses a session', async () => {
    const s = pythonSession(undefined, [], { supportsStartDebuggingRequest: true });
    await s.launch(path, {}, { args: ['spawn'] });
    const refusing = s.onReverse('startDebugging', false);
    expect(await s.exited()).toBe(0);
    refusing.stop();
    expect(s.output).toContain('exit code 0');
    expect(s.output).toContain('A child process runs without being debugged');
  });

  it('run on when the client cannot start sessions', async () => {
    const s = pythonSession();
    await s.launch(path, {}, { args: ['spawn'] });
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain('exit code 0');
  });
});

describe('a terminal', () => {
  it('runs the program when the client starts what it is asked to', async () => {
    const s = pythonSession(undefined, [], { supportsRunInTerminalRequest: true });
    await s.client.request('initialize', {
      adapterID: 'mamba',
      pathFormat: 'path',
      supportsRunInTerminalRequest: true,
    });
    s.starting = s.client.send('launch', {
      program: script('print("in a terminal")\n'),
      python: PYTHON,
      console: 'integratedTerminal',
    });
    const { args, cwd } = (await s.answerReverse('runInTerminal')) as { args: string[]; cwd: string };
    const terminal = spawn(args[0], args.slice(1), { cwd });
    programs.push(terminal);
    let printed = '';
    terminal.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await s.client.event('initialized');
    await s.configure('');
    expect(await s.exited()).toBe(0);
    expect(printed).toContain('in a terminal');
  });

  it('that the client refuses ends the launch with a sentence', async () => {
    const s = pythonSession();
    await s.client.request('initialize', {
      adapterID: 'mamba',
      pathFormat: 'path',
      supportsRunInTerminalRequest: true,
    });
    const seq = s.client.send('launch', { program: script(''), python: PYTHON, console: 'externalTerminal' });
    await s.answerReverse('runInTerminal', false);
    const { success, message } = await s.client.response(seq);
    expect(success).toBe(false);
    expect(message).toContain('did not start the terminal');
  });
});

describe('the end', () => {
  const endless = script(
    'import os, time\nprint("pid", os.getpid(), flush=True)\nwhile True:\n    time.sleep(0.01)\n',
  );

  async function running() {
    const s = pythonSession();
    await s.launch(endless);
    await s.client.event<DebugProtocol.OutputEvent>('output', 0, (e) => /\d/.test(e.body.output));
    const pid = Number(/pid (\d+)/.exec(s.output)?.[1]);
    return { s, pid };
  }

  /** The adapter's child: debugpy. */
  async function childOf(parent: number) {
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(parent)]);
    return Number(stdout.trim());
  }

  async function gone(pid: number) {
    for (const deadline = Date.now() + 5_000; Date.now() < deadline; await sleep(20)) {
      try {
        process.kill(pid, 0);
      } catch {
        return true;
      }
    }
    return false;
  }

  it('comes with the death of the program', async () => {
    const { s, pid } = await running();
    process.kill(pid, 'SIGKILL');
    expect(await s.exited()).not.toBe(0);
  });

  it('of debugpy ends the session, and later requests say so', async () => {
    const { s, pid } = await running();
    process.kill(await childOf(s.client.process.pid!), 'SIGKILL');
    await s.client.event('terminated');
    await expect(s.client.request('threads')).rejects.toThrow(/debugpy/);
    await s.client.request('disconnect', {});
    if (!(await gone(pid))) process.kill(pid, 'SIGKILL');
  });

  it.each([
    ['terminate', {}],
    ['disconnect', { terminateDebuggee: true }],
  ])('by %s ends the program', async (command, args) => {
    const { s, pid } = await running();
    await s.client.request(command, args);
    expect(await gone(pid)).toBe(true);
  });

  it('of the client ends the program', async () => {
    const { s, pid } = await running();
    s.client.process.stdin!.end();
    expect(await gone(pid)).toBe(true);
  });

  it('by disconnect can leave a launched program running', async () => {
    const { s, pid } = await running();
    await s.client.request('disconnect', { terminateDebuggee: false });
    await sleep(500);
    expect(await Promise.race([gone(pid), sleep(100).then(() => false)])).toBe(false);
    process.kill(pid, 'SIGKILL');
  });
});
