import type { DebugProtocol } from '@vscode/debugprotocol';
import type { PyTorchStart } from '../../protocol/pytorchLaunch';
import { isObject } from '../arguments';
import { cannotLaunch } from '../errors';
import { type ChannelEvents, DapChannel } from './channel';
import { DEFAULT_PYTHON, type OwnDebugpy, saysMissing, tooOld } from './debugpyLocator';
import { connectWire, spawnWire, type Wire } from './wire';

/** Starting Python from a cold disk may take long. */
const INITIALIZE_MS = 30_000;

export interface ConnectionDeps {
  own: OwnDebugpy;
  /** The script that runs debugpy's adapter with its listeners guarded. */
  guard: string;
  /** Folder to run in that holds no Python files. */
  neutral: string;
  client: Record<string, unknown>;
  events: ChannelEvents;
}

/** A debugpy adapter that has answered `initialize`. */
export interface Connection {
  channel: DapChannel;
  wire: Wire;
}

/** Reaches debugpy the way the configuration asks for. Throws one sentence when there is none. */
export async function openConnection(start: PyTorchStart, deps: ConnectionDeps): Promise<Connection> {
  if (start.connect) return initialized(await connectWire(start.connect), deps);
  const python = start.python ?? DEFAULT_PYTHON;
  const environment = await tryOpen(spawnWire(python, [deps.guard], deps.neutral), deps);
  if (typeof environment !== 'string') return environment;
  const own = (await deps.own.find(python)) ?? (await deps.own.offer(python, environment));
  return initialized(spawnWire(python, [deps.guard, own], deps.neutral), deps);
}

/** The connection, or what is wrong with this debugpy. Throws when the reason is another one. */
async function tryOpen(wire: Wire, deps: ConnectionDeps): Promise<Connection | string> {
  let version: string | undefined;
  let refused = false;
  const events: ChannelEvents = {
    ...deps.events,
    closed: () => !refused && deps.events.closed(),
    event: (event) => {
      version ??= versionIn(event);
      deps.events.event(event);
    },
  };
  let connection: Connection;
  try {
    connection = await initialized(wire, { ...deps, events });
  } catch (error) {
    if (saysMissing(wire.errors())) return 'is not installed';
    throw error;
  }
  const problem = tooOld(version);
  if (problem) {
    refused = true;
    connection.channel.close(`debugpy ${problem}`);
    wire.close();
  }
  return problem ?? connection;
}

async function initialized(wire: Wire, deps: ConnectionDeps): Promise<Connection> {
  let open = false;
  const channel = new DapChannel(wire.input, wire.output, {
    ...deps.events,
    // Before it has answered, the failed request below says all.
    closed: () => open && deps.events.closed(),
  });
  void wire.ended.then(async (why) => {
    await channel.drained();
    channel.close(why);
  });
  try {
    await channel.request('initialize', forDebugpy(deps.client), INITIALIZE_MS);
  } catch (error) {
    channel.close('debugpy did not start.');
    wire.close();
    throw cannotLaunch((error as Error).message);
  }
  open = true;
  return { channel, wire };
}

/** What debugpy is told of the client: paths are paths, and what the client can do for it. */
function forDebugpy(client: Record<string, unknown>): DebugProtocol.InitializeRequestArguments {
  return { ...client, adapterID: 'debugpy', pathFormat: 'path' };
}

/** debugpy says its version in an output event that is not meant to be read. */
function versionIn(event: DebugProtocol.Event): string | undefined {
  const body: unknown = event.event === 'output' ? event.body : undefined;
  const data = isObject(body) && body['category'] === 'telemetry' ? body['data'] : undefined;
  return isObject(data) && typeof data['packageVersion'] === 'string' ? data['packageVersion'] : undefined;
}
