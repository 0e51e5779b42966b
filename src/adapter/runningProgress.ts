import { Event } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';

/** Work shorter than this shows no progress. */
const DELAY_MS = 300;

/** Progress of one piece of work in the client's window; silent when the client shows none. */
export class Progress {
  private static next = 1;
  readonly id = `scanpoint-${Progress.next++}`;
  private timer?: NodeJS.Timeout;
  private shown = false;
  private message = '';

  constructor(
    private readonly title: string,
    private readonly send: ((event: DebugProtocol.Event) => void) | undefined,
    private readonly requestId?: number,
  ) {
    if (send) this.timer = setTimeout(() => this.show(), DELAY_MS);
  }

  /** What is being done now. */
  report(message: string): void {
    this.message = message;
    if (this.shown) this.send?.(new Event('progressUpdate', { progressId: this.id, message }));
  }

  end(): void {
    clearTimeout(this.timer);
    if (this.shown) this.send?.(new Event('progressEnd', { progressId: this.id }));
    this.shown = false;
  }

  private show(): void {
    this.shown = true;
    const { id: progressId, title, message, requestId } = this;
    this.send?.(new Event('progressStart', { progressId, title, message, requestId, cancellable: true }));
  }
}
