import { DebugSession, Response } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { RequestArguments } from './arguments';
import { cancelled, internalFault, UserError, unknownRequest } from './errors';

/** Answers one request: gives the body of the response, or throws. */
export type Handler = (args: RequestArguments, request: DebugProtocol.Request) => unknown | Promise<unknown>;

export type Handlers = Readonly<Record<string, Handler>>;

/** Requests that only look; resuming cancels those that are still open. */
const INSPECTION = new Set([
  'stackTrace',
  'scopes',
  'variables',
  'evaluate',
  'exceptionInfo',
  'mamba/tensors',
  'mamba/tensorData',
]);

interface Open {
  command: string;
  cancel(): void;
}

/** Reads requests and sees to it that each gets exactly one response, whatever its handler does. */
export abstract class RequestServer extends DebugSession {
  protected abstract readonly handlers: Handlers;
  private readonly open = new Map<number, Open>();

  constructor() {
    super();
    // The base class ends the process at the first malformed message; the next one may be well.
    this.removeAllListeners('error');
    this.on('error', () => {});
  }

  protected override dispatchRequest(request: DebugProtocol.Request): void {
    const response = new Response(request) as DebugProtocol.Response;
    let replied = false;
    const reply = (fill: (response: DebugProtocol.Response) => void) => {
      if (replied) return;
      replied = true;
      this.open.delete(request.seq);
      fill(response);
      this.sendResponse(response);
      this.afterReply(request.command, response.success);
    };
    const fail = (error: unknown) => reply((r) => describeFailure(r, error));
    this.open.set(request.seq, { command: request.command, cancel: () => fail(cancelled()) });
    void this.answer(request).then(
      (body) => reply((r) => Object.assign(r, body === undefined ? {} : { body })),
      fail,
    );
  }

  private async answer(request: DebugProtocol.Request): Promise<unknown> {
    const handler = Object.hasOwn(this.handlers, request.command)
      ? this.handlers[request.command]
      : undefined;
    if (!handler) throw unknownRequest(request.command);
    return handler(new RequestArguments(request.command, request.arguments), request);
  }

  /** Called once a response is on its way. */
  protected afterReply(_command: string, _success: boolean): void {}

  /** Answers an open request with "cancelled"; what its handler gives later is dropped. */
  protected cancelOpen(seq: number): void {
    this.open.get(seq)?.cancel();
  }

  protected cancelInspection(): void {
    for (const open of [...this.open.values()]) if (INSPECTION.has(open.command)) open.cancel();
  }
}

function describeFailure(response: DebugProtocol.Response, error: unknown): void {
  const known =
    error instanceof UserError
      ? error
      : internalFault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  response.success = false;
  response.message = known.message;
  const { message, showUser } = known;
  response.body = { error: { id: showUser ? 2 : 1, format: '{message}', variables: { message }, showUser } };
}
