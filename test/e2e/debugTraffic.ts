import type { Page, WebSocket } from 'playwright-core';

/**
 * Counts the debug adapter messages that pass between the window and its extension host. The window itself does
 * not show whether a stop is a new one (a step may end on the line where it began), so without this a test could
 * read the views of the stop before. Only `waitForPaused` and its like use it; what tests read is the window.
 */
export class DebugTraffic {
  /** Sessions begun, counted by their `initialize` request; child sessions count too. */
  starts = 0;
  stops = 0;
  ends = 0;
  /** Requests that no response has come for. */
  pending = 0;
  /** The last messages by name, newest last, for the text of a failure. */
  readonly recent: string[] = [];

  constructor(page: Page) {
    page.on('websocket', (socket) => this.listen(socket));
  }

  private listen(socket: WebSocket): void {
    socket.on('framesent', ({ payload }) => this.sent(text(payload)));
    socket.on('framereceived', ({ payload }) => this.received(text(payload)));
  }

  private sent(frame: string): void {
    this.pending += count(frame, /"type":"request"/g);
    for (const [, command] of frame.matchAll(/"command":"(\w+)"/g)) {
      this.note(`> ${command}`);
      if (command === 'initialize') {
        this.starts++;
      }
    }
  }

  private received(frame: string): void {
    this.pending = Math.max(0, this.pending - count(frame, /"type":"response"/g));
    for (const [, event] of frame.matchAll(/"event":"(\w+)"/g)) {
      this.note(`< ${event}`);
      if (event === 'stopped') {
        this.stops++;
      } else if (event === 'terminated') {
        this.ends++;
        this.pending = 0; // what is still open will never be answered
      }
    }
  }

  private note(line: string): void {
    this.recent.push(line);
    if (this.recent.length > 40) {
      this.recent.shift();
    }
  }
}

function count(frame: string, pattern: RegExp): number {
  return frame.match(pattern)?.length ?? 0;
}

function text(payload: string | Buffer): string {
  return typeof payload === 'string' ? payload : payload.toString('latin1');
}
