/** What a session is doing, told from the messages between editor and adapter. No vscode. */
import { TENSORS_CHANGED_EVENT } from '../protocol/requests';
import { isRecord } from './launchRules';

export interface SessionState {
  readonly state: 'running' | 'stopped';
  /** Counts stops and changes of tensors: what was read under another number is out of date. */
  readonly serial: number;
  /** `Paused at selective_scan entry` */
  readonly description?: string;
  /** `layers.3.mixer, backward: delta.max() = 0.42 > 0.1 (hit 3)` */
  readonly text?: string;
  /** What the adapter says that it is doing right now. */
  readonly activity?: string;
}

export const STARTED: SessionState = { state: 'running', serial: 0 };

/** After these requests the program runs, whether or not the adapter says so with an event. */
const RESUMING = new Set([
  'continue',
  'next',
  'stepIn',
  'stepOut',
  'stepBack',
  'reverseContinue',
  'goto',
  'restart',
  'restartFrame',
]);

/** The state after a message to the adapter; the same object when it changes nothing. */
export function afterRequest(state: SessionState, message: unknown): SessionState {
  const resumes = isRecord(message) && message.type === 'request' && RESUMING.has(String(message.command));
  return resumes && state.state === 'stopped' ? { ...state, state: 'running' } : state;
}

/** The state after a message from the adapter; the same object when it changes nothing. */
export function afterReply(state: SessionState, message: unknown): SessionState {
  if (!isRecord(message)) return state;
  if (message.type === 'event')
    return afterEvent(state, String(message.event), isRecord(message.body) ? message.body : {});
  const refused =
    message.type === 'response' && message.success === false && RESUMING.has(String(message.command));
  // Nothing moved: what is shown is still true.
  return refused && state.serial > 0 ? { ...state, state: 'stopped' } : state;
}

function afterEvent(state: SessionState, event: string, body: Record<string, unknown>): SessionState {
  switch (event) {
    case 'stopped':
      return {
        state: 'stopped',
        serial: state.serial + 1,
        description: textOf(body.description) ?? textOf(body.reason),
        text: textOf(body.text),
      };
    case 'continued':
      return state.state === 'running' ? state : { ...state, state: 'running' };
    case TENSORS_CHANGED_EVENT:
      return { ...state, serial: state.serial + 1 };
    case 'progressStart':
      return { ...state, activity: activityOf(body.message) ?? activityOf(body.title) };
    case 'progressUpdate':
      return { ...state, activity: activityOf(body.message) ?? state.activity };
    case 'progressEnd':
      return { ...state, activity: undefined };
    default:
      return state;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The adapter names itself in its titles, since VS Code shows them in a notification. */
function activityOf(value: unknown): string | undefined {
  return textOf(value)?.replace(/^Scanpoint: /, '');
}
