import type { Readable, Writable } from 'node:stream';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { isPyTorchStart } from '../protocol/pytorchLaunch';
import { isObject } from './arguments';
import { EmbeddedSession, type Places } from './embeddedSession';
import { frame, MessageReader } from './framing';
import { type ProxyOptions, ProxySession } from './pytorch/proxySession';
import type { RequestServer } from './requestServer';

export interface AdapterOptions extends Places, ProxyOptions {
  /** The client knows before it starts us that a Python process will be debugged. */
  pytorch: boolean;
}

/** The last response needs a moment to leave before the process ends. */
const FAREWELL_MS = 100;

/** One debug session over two streams; whether embedded or PyTorch, the launch or attach request says. */
export class Adapter {
  private session: RequestServer;
  private client: Record<string, unknown> = {};
  private started = false;
  private seq = 1;

  constructor(
    private readonly options: AdapterOptions,
    private readonly output: Writable,
    private readonly exit: () => void,
  ) {
    this.session = this.use(options.pytorch ? new ProxySession(options) : new EmbeddedSession(options));
  }

  listen(input: Readable): void {
    const reader = new MessageReader({
      message: (message) => this.receive(message),
      // A request that cannot be read has no number to answer.
      lost: () => {},
    });
    input.on('data', (chunk: Buffer) => reader.read(chunk));
    input.on('close', () => void this.onClientGone());
    this.output.on('error', () => {});
  }

  private receive(message: unknown): void {
    if (!isObject(message)) return;
    const { type, command, arguments: args } = message;
    if (type === 'request' && command === 'initialize') this.client = isObject(args) ? args : {};
    if (type === 'request' && (command === 'launch' || command === 'attach') && !this.started)
      this.choose(args);
    this.session.handleMessage(message as unknown as DebugProtocol.ProtocolMessage);
  }

  /** Takes the kind of session that the arguments mean; a session that has answered a launch stays. */
  private choose(args: unknown): void {
    const isEmbedded = this.session instanceof EmbeddedSession;
    if (isEmbedded && isPyTorchStart(args))
      this.session = this.use(new ProxySession(this.options, this.client));
    else if (!isEmbedded && isObject(args) && args['model'] !== undefined)
      this.session = this.use(new EmbeddedSession(this.options));
  }

  private use(session: RequestServer): RequestServer {
    session.onDidSendMessage((message) => this.send(message as DebugProtocol.ProtocolMessage));
    return session;
  }

  private send(message: DebugProtocol.ProtocolMessage): void {
    // Two sessions may have spoken to this client; a request is found again by the number it gets here.
    message.seq = this.seq++;
    this.output.write(frame(message));
    if (message.type !== 'response') return;
    const { command, success } = message as DebugProtocol.Response;
    if (success && (command === 'launch' || command === 'attach')) this.started = true;
    if (command === 'disconnect') setTimeout(this.exit, FAREWELL_MS);
  }

  private async onClientGone(): Promise<void> {
    if (this.session instanceof ProxySession) await this.session.clientGone();
    this.exit();
  }
}
