import { Event, OutputEvent } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { TRACE_EVENT } from '../../protocol/pytorchRequests';
import { TENSORS_CHANGED_EVENT } from '../../protocol/requests';
import { isObject } from '../arguments';
import type { AgentClient } from './agentClient';
import { type AgentStops, readAgentStop } from './agentStop';
import type { ProxyBreakpoints } from './breakpoints';

const CATEGORIES = ['stdout', 'console', 'important'];

/** Takes what the agent says on its own account. It comes from the user's process, so nothing about it is certain. */
export function onAgentEvent(
  body: unknown,
  agent: AgentClient,
  stops: AgentStops,
  breakpoints: ProxyBreakpoints,
  send: (event: DebugProtocol.Event) => void,
): void {
  if (!isObject(body)) return;
  const { reply, stop, output, probe, trace, changed } = body;
  if (reply !== undefined) agent.onReply(reply);
  const read = readAgentStop(stop);
  if (read) stops.announce(read);
  if (isObject(output)) {
    const category = CATEGORIES.find((c) => c === output['category']) ?? 'console';
    send(new OutputEvent(String(output['text'] ?? ''), category));
  }
  if (isObject(probe)) breakpoints.onProbe(probe);
  if (isObject(trace)) send(new Event(TRACE_EVENT, trace));
  if (changed !== undefined) send(new Event(TENSORS_CHANGED_EVENT, {}));
}
