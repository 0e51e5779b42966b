import { formatCount } from '../../src/protocol/numbers';
import type { Hint } from './hints';
import type { KeyGroup, KeyReport } from './match';
import { formatShape } from './record';

const MAX_NAMED = 3;

/** One to two sentences: what does not fit, what explains it, what to do. */
export function formatHeadline(report: KeyReport): string {
  const left = report.unexpected.reduce((n, { keys }) => n + keys.length, 0);
  if (report.fits) {
    const found = `All ${formatCount(report.matched)} tensors that the model needs were found.`;
    return left === 0
      ? found
      : `${found} ${formatCount(left)} more in the checkpoint ${areIs(left)} not used.`;
  }
  const [first] = report.hints;
  const start = 'The checkpoint does not fit the model:';
  if (!first) return `${start} ${withoutHint(report)}`;
  if (first.setting === 'kind')
    return `${start} it is of ${first.checkpoint}, the model is ${first.model}. Choose another checkpoint.`;
  if (first.setting === 'prefix')
    return `${start} ${first.text} Save it without the prefix, or choose another checkpoint.`;
  const evidence = first.evidence ? describeGroup(first.evidence) : first.text.replace(/\.$/, '');
  return `${start} ${evidence}, so it was probably trained with ${named(report.hints, 'as')}. ${action(report.hints)}`;
}

/** `24 keys of `layers.*.mixer.A_b_log` are missing`. */
export function describeGroup({ problem, name, keys, expected, found }: KeyGroup): string {
  const many = keys.length > 1;
  if (problem === 'shape') {
    const subject = many ? `${keys.length} keys of \`${name}\` have` : `\`${name}\` has`;
    return `${subject} shape ${formatShape(found ?? [])} where the model has ${formatShape(expected ?? [])}`;
  }
  const subject = many ? `${keys.length} keys of \`${name}\`` : `\`${name}\``;
  return problem === 'missing'
    ? `${subject} ${many ? 'are' : 'is'} missing`
    : `${subject} ${many ? 'have' : 'has'} no place in the model`;
}

function withoutHint(report: KeyReport): string {
  const groups = [...report.misshaped, ...report.missing, ...report.unexpected];
  if (report.matched === 0 && report.misshaped.length === 0 && report.foundCount > 0) {
    const [missing, unexpected] = [report.missing[0]?.keys[0], report.unexpected[0]?.keys[0]];
    return (
      `none of its ${formatCount(report.foundCount)} keys (such as \`${unexpected}\`) is one of the model's ` +
      `(such as \`${missing}\`). Choose another checkpoint or model.`
    );
  }
  const named = groups.slice(0, 2).map(describeGroup).join(' and ');
  const rest = groups.length > 2 ? `, and ${groups.length - 2} more groups of keys differ` : '';
  return `${named}${rest}. Choose the checkpoint of this model, or the settings that it was trained with.`;
}

function named(hints: readonly Hint[], word: 'as' | 'change'): string {
  const parts = hints
    .slice(0, MAX_NAMED)
    .map((hint) => hint[word])
    .filter((part) => part !== '');
  if (hints.length > MAX_NAMED) parts.push(`${hints.length - MAX_NAMED} more settings`);
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '');
}

function action(hints: readonly Hint[]): string {
  const comma = hints.length > 1 ? ',' : '';
  return `Set ${named(hints, 'change')}${comma} or choose another checkpoint.`;
}

function areIs(n: number): string {
  return n === 1 ? 'is' : 'are';
}
