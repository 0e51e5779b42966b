import { Event } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { QUESTION_EVENT, type Question } from '../../protocol/questions';
import type { RequestArguments } from '../arguments';

/** Asks the person through the client; a client that cannot ask answers every question with nothing. */
export class Questions {
  private next = 1;
  private readonly open = new Map<number, (choice: string | undefined) => void>();

  constructor(
    /** Whether the client knows how to ask. */
    private readonly able: boolean,
    private readonly send: (event: DebugProtocol.Event) => void,
  ) {}

  /** What the person chose, if anything. */
  ask(text: string, choices: string[]): Promise<string | undefined> {
    if (!this.able) return Promise.resolve(undefined);
    const question: Question = { id: this.next++, text, choices };
    return new Promise((resolve) => {
      this.open.set(question.id, resolve);
      this.send(new Event(QUESTION_EVENT, question));
    });
  }

  /** The client's request that answers a question. */
  answer(args: RequestArguments): void {
    const id = args.number('id');
    const choice = args.optionalString('choice');
    this.open.get(id)?.(choice);
    this.open.delete(id);
  }

  /** Answers all that is open with nothing, when the session ends. */
  dismiss(): void {
    for (const resolve of this.open.values()) resolve(undefined);
    this.open.clear();
  }
}
