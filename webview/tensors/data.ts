/** Windows of tensors from the target, one request at a time per picture. */
import { useEffect, useState } from 'preact/hooks';
import type { TensorDataArguments } from '../../src/protocol/requests';
import type { FromPanel, ToPanel } from '../../src/protocol/webview';
import { type CellWindow, decodeResponse } from './cells';

interface Pending {
  resolve: (window: CellWindow) => void;
  reject: (error: Error) => void;
}

/** Matches replies to requests; replies that nobody waits for any more are dropped. */
export class TensorData {
  private readonly pending = new Map<number, Pending>();
  private last = 0;

  constructor(private readonly post: (message: FromPanel) => void) {}

  fetch(args: TensorDataArguments): Promise<CellWindow> {
    const request = ++this.last;
    return new Promise((resolve, reject) => {
      this.pending.set(request, { resolve, reject });
      this.post({ type: 'data', request, arguments: args });
    });
  }

  /** Takes the messages that are replies. */
  receive(message: ToPanel): void {
    if (message.type !== 'data' && message.type !== 'failed') return;
    const pending = this.pending.get(message.request);
    this.pending.delete(message.request);
    if (message.type === 'failed') pending?.reject(new Error(message.message));
    else {
      try {
        pending?.resolve(decodeResponse(message.response));
      } catch (error) {
        pending?.reject(error as Error);
      }
    }
  }
}

export interface Fetched {
  /** The newest window that came, also while a newer one is on its way. */
  window?: CellWindow;
  loading: boolean;
  error?: string;
  retry: () => void;
}

/** Time in which a slider's movements are taken together. */
const SETTLE = 30;

interface Settled {
  window?: CellWindow;
  error?: string;
  /** The request that this answers. */
  key: string;
  kind: string;
}

/**
 * The window for `args`; without arguments nothing is asked for. While a new window is on its way the last one
 * stays, as long as it is of the same `kind`.
 */
export function useWindow(data: TensorData, args: TensorDataArguments | undefined, kind: string): Fetched {
  const [state, setState] = useState<Settled>();
  const [attempt, setAttempt] = useState(0);
  const key = args ? `${kind} ${JSON.stringify(args)} ${attempt}` : undefined;
  useEffect(() => {
    if (!args || !key) return;
    let current = true;
    const settle = (next: Omit<Settled, 'key' | 'kind'>) => current && setState({ ...next, key, kind });
    const timer = setTimeout(() => {
      data.fetch(args).then(
        (window) => settle({ window }),
        (error: Error) => settle({ error: error.message }),
      );
    }, SETTLE);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [data, key]);
  const loading = key !== undefined && state?.key !== key;
  return {
    window: state?.kind === kind ? state.window : undefined,
    loading,
    error: loading ? undefined : state?.error,
    retry: () => setAttempt((n) => n + 1),
  };
}
