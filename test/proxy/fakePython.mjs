/**
 * Stands for a Python in the proxy's tests: `python: [node, fakePython.mjs, MODE]`. It has no debugpy until "pip" has
 * put one somewhere, and its debugpy does what the mode says.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [mode, ...args] = process.argv.slice(2);
const random = generator(Number(/\d+/.exec(mode)?.[0] ?? 0));

if (args[0] === '-c') console.log('fake-38 any');
else if (args[1] === 'pip') pip(args[args.indexOf('--target') + 1]);
else if (args.length === 1 && mode.startsWith('missing'))
  fail(`${process.execPath}: No module named debugpy`);
else adapter();

function fail(line) {
  console.error(line);
  process.exit(1);
}

function pip(target) {
  if (mode === 'missing-offline')
    fail('ERROR: Could not find a version that satisfies the requirement debugpy');
  console.log('Collecting debugpy');
  mkdirSync(join(target, 'debugpy'), { recursive: true });
  writeFileSync(join(target, 'debugpy', 'adapter'), '');
}

/** Reads requests and answers them; in the mode `fuzz` now and then wrongly, late or not at all. */
function adapter() {
  let buffer = '';
  telemetry(mode === 'missing-old' || mode === 'old' ? '1.5.0' : '1.8.0');
  process.stdin.setEncoding('latin1').on('data', (chunk) => {
    buffer += chunk;
    for (;;) {
      const match = /^Content-Length: (\d+)\r\n\r\n/.exec(buffer);
      const end = match && match[0].length + Number(match[1]);
      if (!match || buffer.length < end) return;
      answer(JSON.parse(Buffer.from(buffer.slice(match[0].length, end), 'latin1').toString()));
      buffer = buffer.slice(end);
    }
  });
  process.stdin.on('end', () => process.exit(0));
}

let started;
function answer(request) {
  const { command } = request;
  if (mode.startsWith('dies') && command === mode.split('-')[1]) process.exit(3);
  if (command === 'launch') {
    started = request;
    return send({ type: 'event', event: 'initialized' });
  }
  if (command === 'configurationDone') respond(started);
  if (mode.startsWith('fuzz') && !['initialize', 'configurationDone', 'disconnect'].includes(command))
    return unreliable(request);
  respond(request);
  if (command === 'disconnect') process.exit(0);
}

/** A request is answered, refused, dropped, answered twice, late, in pieces, or by what is no message. */
function unreliable(request) {
  const ways = [
    () => respond(request),
    () => respond(request),
    () => respond(request, false),
    () => {},
    () => [respond(request), respond(request)],
    () => setTimeout(() => respond(request), random(40)),
    () => process.stdout.write('Content-Length: 9\r\n\r\n{"broken"'),
    () => process.stdout.write(frame({ type: 'response', request_seq: request.seq }).replace('{', '[')),
    () => process.stdout.write('noise on the line\r\n\r\n'),
    () => send({ type: 'response', request_seq: 10_000 + random(100), success: true, command: 'none' }),
    () => [send({ type: 'event', event: 'output' }), send({ type: 'event', event: 'breakpoint', body: [] })],
    () => pieces(frame(response(request, true))),
    () => [
      send({ type: 'event', event: 'stopped', body: { reason: 'step', threadId: 1 } }),
      respond(request),
    ],
    () => [send({ type: 'event', event: 'scanpoint', body: { stop: 3, reply: [] } }), respond(request)],
  ];
  ways[random(ways.length)]();
}

function pieces(text) {
  const cut = 1 + random(text.length - 1);
  process.stdout.write(text.slice(0, cut));
  setTimeout(() => process.stdout.write(text.slice(cut)), 1);
}

const BODIES = {
  threads: { threads: [] },
  stackTrace: { stackFrames: [] },
  scopes: { scopes: [] },
  variables: { variables: [] },
  evaluate: { result: '', variablesReference: 0 },
};

function response({ seq, command }, success) {
  return { type: 'response', request_seq: seq, success, command, body: BODIES[command] ?? {} };
}

function respond(request, success = true) {
  send(response(request, success));
}

function telemetry(packageVersion) {
  send({
    type: 'event',
    event: 'output',
    body: { category: 'telemetry', output: 'debugpy', data: { packageVersion } },
  });
}

function send(message) {
  process.stdout.write(frame({ seq: 1, ...message }));
}

function frame(message) {
  const json = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** Whole numbers below a limit, the same for the same seed. */
function generator(seed) {
  let state = seed + 1;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
}
