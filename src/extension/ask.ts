/** Questions with a step number and a way back, on top of VS Code's quick input. */
import * as vscode from 'vscode';

/** The answer of someone who wants the question before. */
export const BACK = Symbol('back');

interface Question {
  title: string;
  step: number;
  totalSteps: number;
}

export interface PickQuestion<T extends vscode.QuickPickItem> extends Question {
  placeholder: string;
  items: readonly T[];
  active?: T;
  /** Turns what was typed into an item of its own, where that makes sense. */
  typed?: (text: string) => T | undefined;
}

/** The picked item; `BACK`; nothing when the person turns away. */
export function pick<T extends vscode.QuickPickItem>(
  question: PickQuestion<T>,
): Promise<T | typeof BACK | undefined> {
  const input = vscode.window.createQuickPick<T>();
  input.placeholder = question.placeholder;
  input.items = question.items;
  input.matchOnDescription = true;
  if (question.active) input.activeItems = [question.active];
  const { typed } = question;
  if (typed) {
    input.onDidChangeValue((text) => {
      const extra = typed(text.trim());
      input.items = extra ? [extra, ...question.items] : question.items;
    });
  }
  return answer(input, question, () => input.selectedItems[0]);
}

export interface TextQuestion extends Question {
  prompt: string;
  placeholder: string;
  value: string;
  /** One sentence about what is wrong, or nothing. */
  check: (text: string) => string | undefined;
}

/** The text; `BACK`; nothing when the person turns away. */
export function askText(question: TextQuestion): Promise<string | typeof BACK | undefined> {
  const input = vscode.window.createInputBox();
  input.prompt = question.prompt;
  input.placeholder = question.placeholder;
  input.value = question.value;
  input.onDidChangeValue((text) => {
    input.validationMessage = question.check(text);
  });
  return answer(input, question, () => {
    input.validationMessage = question.check(input.value);
    return input.validationMessage ? undefined : input.value;
  });
}

interface Input extends vscode.QuickInput {
  buttons: readonly vscode.QuickInputButton[];
  readonly onDidAccept: vscode.Event<void>;
  readonly onDidTriggerButton: vscode.Event<vscode.QuickInputButton>;
}

function answer<T>(
  input: Input,
  question: Question,
  accepted: () => T | undefined,
): Promise<T | typeof BACK | undefined> {
  input.title = question.title;
  input.step = question.step;
  input.totalSteps = question.totalSteps;
  input.ignoreFocusOut = true;
  if (question.step > 1) input.buttons = [vscode.QuickInputButtons.Back];
  return new Promise((resolve) => {
    const finish = (result: T | typeof BACK | undefined) => {
      resolve(result);
      input.dispose();
    };
    input.onDidAccept(() => {
      const result = accepted();
      if (result !== undefined) finish(result);
    });
    input.onDidTriggerButton(() => finish(BACK));
    input.onDidHide(() => finish(undefined));
    input.show();
  });
}
