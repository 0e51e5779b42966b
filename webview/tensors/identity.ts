/** Which tensor of one stop is "the same" as one of an earlier stop. No DOM. */
import type { TensorEntry, TensorRole } from '../../src/protocol/requests';
import type { TensorScope } from '../../src/protocol/webview';

/**
 * What a pin holds on to. At a site that is the meaning (`delta` of the scan, wherever the program stops);
 * in the whole run, where names come again in every layer, it is the one tensor.
 */
export function pinKey(entry: TensorEntry, scope: TensorScope): string {
  return scope === 'site' ? `${entry.role} ${entry.name}` : entry.id;
}

/** The tensor that a viewer opened on `open` shows now: it follows the stop by meaning, the whole run by id. */
export function followTensor(
  entries: readonly TensorEntry[],
  open: { id: string; name: string; role: TensorRole },
  scope: TensorScope,
): TensorEntry | undefined {
  const same = entries.find((entry) => entry.id === open.id);
  if (scope === 'run') return same;
  return entries.find((entry) => entry.role === open.role && entry.name === open.name) ?? same;
}
