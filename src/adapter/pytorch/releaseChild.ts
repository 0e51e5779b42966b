import type { Endpoint } from '../../protocol/pytorchLaunch';
import { DapChannel } from './channel';
import { connectWire } from './wire';

const RELEASE_MS = 10_000;

/**
 * A child process waits before its first line until somebody attaches. Attaches as `configuration` says and leaves at
 * once, so that it runs.
 */
export async function releaseChild(configuration: Record<string, unknown>): Promise<void> {
  const wire = await connectWire(configuration['connect'] as Endpoint);
  let ready = () => {};
  const initialized = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const channel = new DapChannel(wire.input, wire.output, {
    event: ({ event }) => event === 'initialized' && ready(),
    request: (request) => channel.refuse(request, 'This session only lets a process run.'),
    closed: ready,
  });
  void wire.ended.then((why) => channel.close(why));
  try {
    await channel.request('initialize', { adapterID: 'debugpy', pathFormat: 'path' }, RELEASE_MS);
    const attached = channel.request('attach', configuration, RELEASE_MS);
    await Promise.race([initialized, attached]);
    await channel.request('configurationDone', {}, RELEASE_MS);
    await attached;
    await channel.request('disconnect', { terminateDebuggee: false }, RELEASE_MS);
  } finally {
    wire.close();
  }
}
