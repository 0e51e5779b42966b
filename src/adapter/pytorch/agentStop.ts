import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Site } from '../../protocol/site';
import { isObject } from '../arguments';
import { fromDebugpy } from './breakpointIds';

/** What the agent says of a stop, just before the thread suspends. */
export interface AgentStop {
  threadId: number;
  reason: string;
  description: string;
  text: string;
  probeIds: number[];
  /** Whether a boundary is entered or left; absent at other stops. */
  phase?: 'entry' | 'exit';
  site?: Site;
}

const PHASES = ['entry', 'exit'] as const;

/** Reads the agent's word; undefined when it cannot be one. */
export function readAgentStop(body: unknown): AgentStop | undefined {
  if (!isObject(body) || typeof body['threadId'] !== 'number') return undefined;
  const word = (key: string) => (typeof body[key] === 'string' ? (body[key] as string) : '');
  const probeIds = Array.isArray(body['probeIds']) ? body['probeIds'] : [];
  return {
    threadId: body['threadId'],
    reason: word('reason') || 'breakpoint',
    description: word('description'),
    text: word('text'),
    probeIds: probeIds.filter((id): id is number => typeof id === 'number'),
    phase: PHASES.find((phase) => phase === body['phase']),
    site: isObject(body['site']) ? (body['site'] as unknown as Site) : undefined,
  };
}

/** The stops of the agent, by thread: announced ones, and those where a thread stands now. */
export class AgentStops {
  private readonly announced = new Map<number, AgentStop>();
  private readonly standing = new Map<number, AgentStop>();

  announce(stop: AgentStop): void {
    this.announced.set(stop.threadId, stop);
  }

  /** Where the thread stands, if the agent stopped it. */
  at(thread: number): AgentStop | undefined {
    return this.standing.get(thread);
  }

  resumed(): void {
    this.standing.clear();
  }

  /** debugpy's event of a stop, in the agent's words when the agent caused it. */
  enrich(body: DebugProtocol.StoppedEvent['body']): DebugProtocol.StoppedEvent['body'] {
    const thread = body.threadId ?? 0;
    const stop = this.announced.get(thread);
    this.announced.delete(thread);
    if (!stop) {
      this.standing.delete(thread);
      return { ...body, hitBreakpointIds: body.hitBreakpointIds?.map(fromDebugpy) };
    }
    this.standing.set(thread, stop);
    const { reason, description, text, probeIds } = stop;
    return { ...body, reason, description, text, hitBreakpointIds: probeIds };
  }
}
