import type { DebugProtocol } from '@vscode/debugprotocol';
import type { EngineClient } from './engine/client';
import { UserError } from './errors';

/** Answers `generate(...)` in the Debug Console. */
export class ConsoleGeneration {
  /** The requests that tokens are written for. */
  private readonly requests = new Set<number>();

  constructor(private readonly currentEngine: () => EngineClient) {}

  /** True while tokens are written. */
  get active(): boolean {
    return this.requests.size > 0;
  }

  /** True while tokens are written for this request. */
  answers(request: number | undefined): boolean {
    return request !== undefined && this.requests.has(request);
  }

  /** Takes long; a pause of the engine ends it. A watch would write anew at every stop, so only the console may ask. */
  async evaluate(
    expression: string,
    context: string | undefined,
    request: number,
  ): Promise<DebugProtocol.EvaluateResponse['body']> {
    if (context !== 'repl')
      throw new UserError('generate(...) writes only when it is asked in the Debug Console.');
    const engine = this.currentEngine();
    if (!this.active) engine.clearPause();
    this.requests.add(request);
    try {
      return { result: await engine.call('generate', expression), type: 'str', variablesReference: 0 };
    } finally {
      this.requests.delete(request);
    }
  }
}
