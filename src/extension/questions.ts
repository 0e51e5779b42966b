import * as vscode from 'vscode';
import { ANSWER_REQUEST, type Answer, QUESTION_EVENT, type Question } from '../protocol/questions';

/**
 * Puts the adapter's questions to the person, and gives it the answers. Listens to the adapter itself: VS Code hands
 * custom events on only once a session has started, and questions come before.
 */
export function answerQuestions(): vscode.Disposable {
  return vscode.debug.registerDebugAdapterTrackerFactory('mamba', {
    createDebugAdapterTracker: (session) => ({
      onDidSendMessage: (message: { type?: string; event?: string; body?: unknown }) => {
        if (message.type === 'event' && message.event === QUESTION_EVENT)
          void ask(session, message.body as Question);
      },
    }),
  });
}

async function ask(session: vscode.DebugSession, { id, text, choices }: Question): Promise<void> {
  const choice = await vscode.window.showInformationMessage(text, ...choices);
  const answer: Answer = choice === undefined ? { id } : { id, choice };
  // A session that has ended meanwhile needs no answer.
  await Promise.resolve(session.customRequest(ANSWER_REQUEST, answer)).catch(() => {});
}
