import type { FilterName, FilterSetting } from '../../runtime/engine/finding';
import type { ProbeSpec } from '../../runtime/engine/probes';
import { parseBreakpointName, splitBreakpointText } from '../protocol/breakpointSpec';
import { parseCommand, UsageError, wholeNumber } from './flags';

/** What `scanpoint run` is asked to do. */
export interface RunOptions {
  model: string;
  checkpoint?: string;
  input?: string;
  text?: string;
  label?: number;
  seed: number;
  backward: boolean;
  loss?: string;
  probes: ProbeSpec[];
  filters: FilterSetting[];
  save?: string;
  json: boolean;
  /** Megabytes. */
  memory?: number;
  threads?: number;
  failOnHit: boolean;
}

export const USAGE = `Usage: scanpoint run MODEL [options]

MODEL is a published name, a JSON file with the constructor's arguments, or a language model's folder.

  --checkpoint FILE   weights: safetensors or a PyTorch file (random from --seed when absent)
  --input FILE        PNG, JPEG, .npy, or a tensor file with "input" (noise from --seed when absent)
  --text TEXT         text for a language model whose folder has a tokenizer
  --label N           the class that is right
  --seed N            for random weights and noise (0)
  --backward          go on with the gradients of the cross-entropy: of --label, or of the next tokens
  --loss EXPR         go on with the gradients of EXPR instead, e.g. "logits[0, 3]" or "(logits ** 2).mean()"
  --break "WHERE [if CONDITION]"
                      report a breakpoint, e.g. "selective_scan if delta.max() > 0.1"; may be given again
  --break-on LIST     report nan, inf, exploding[=NORM], vanishing[=NORM], separated by commas
  --save FILE         write inputs, logits, layers, scans and gradients as safetensors
  --json              one JSON object on standard output instead of text
  --memory MB         results to keep at most; those dropped are computed again when they are needed (512)
  --threads N         threads that compute (one for each core, up to 8)
  --fail-on-hit       exit with 3 when a breakpoint or a filter was hit

Exit code: 0, 1 for a fault of the input, 3 for a hit with --fail-on-hit.`;

const FLAGS = {
  checkpoint: { type: 'string' },
  input: { type: 'string' },
  text: { type: 'string' },
  label: { type: 'string' },
  seed: { type: 'string' },
  backward: { type: 'boolean' },
  loss: { type: 'string' },
  break: { type: 'string', multiple: true },
  'break-on': { type: 'string' },
  save: { type: 'string' },
  json: { type: 'boolean' },
  memory: { type: 'string' },
  threads: { type: 'string' },
  'fail-on-hit': { type: 'boolean' },
} as const;

/** Reads the arguments behind `run`. Throws a `UsageError`. */
export function readRunOptions(args: string[]): RunOptions {
  const { model, values } = parseCommand('run', args, FLAGS);
  return {
    model,
    checkpoint: values.checkpoint,
    input: values.input,
    text: values.text,
    label: wholeNumber('label', values.label, 0),
    seed: wholeNumber('seed', values.seed, 0) ?? 0,
    backward: values.backward ?? false,
    loss: values.loss,
    probes: (values.break ?? []).map(readBreak),
    filters: readFilters(values['break-on']),
    save: values.save,
    json: values.json ?? false,
    memory: wholeNumber('memory', values.memory, 0),
    threads: wholeNumber('threads', values.threads, 0),
    failOnHit: values['fail-on-hit'] ?? false,
  };
}

/** `WHERE if CONDITION` as a probe. */
function readBreak(text: string, index: number): ProbeSpec {
  const { name, logMessage } = splitBreakpointText(text);
  const [where, condition] = splitOnce(name, ' if ');
  return { id: index + 1, target: parseBreakpointName(where), condition, logMessage };
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

const FILTERS: readonly FilterName[] = ['nan', 'inf', 'exploding', 'vanishing'];

function readFilters(list: string | undefined): FilterSetting[] {
  return (list ?? '')
    .split(',')
    .filter(Boolean)
    .map((word) => {
      const [name, limit] = splitOnce(word.trim(), '=');
      const filter = FILTERS.find((f) => f === name);
      if (!filter) throw new UsageError(`--break-on knows ${FILTERS.join(', ')}, not "${name}".`);
      if (limit === undefined) return { filter };
      if (!(Number(limit) >= 0)) throw new UsageError(`--break-on ${name} takes a number, not "${limit}".`);
      return { filter, threshold: Number(limit) };
    });
}
