/** Which setting explains that a checkpoint differs from the model. */
import type { ExpectedKey, FoundKey, KeyGroup } from './match';
import { FoldedShapes, SETTINGS, type Setting, type SettingRule } from './settings';

export interface Hint {
  /** Constructor argument, e.g. `bimamba_type`; also `kind`, `prefix` and `patches`, which are none. */
  readonly setting: string;
  readonly model: Setting;
  readonly checkpoint: Setting;
  /** `bimamba_type "none"`, to follow "trained with". */
  readonly as: string;
  /** `bimamba_type to "none"`, to follow "set"; empty when no setting mends it. */
  readonly change: string;
  /** One sentence for a list. */
  readonly text: string;
  /** The keys that show it. */
  readonly evidence: KeyGroup | undefined;
}

/** Differences in settings, most telling first. `groups` are the keys that do not match. */
export function findHints(
  expected: readonly ExpectedKey[],
  found: ReadonlyMap<string, FoundKey>,
  groups: readonly KeyGroup[],
): Hint[] {
  const needed = expected.filter(({ name, optional }) => !optional || found.has(name));
  const model = new FoldedShapes(needed.map(({ name, shape }) => [name, shape]));
  const checkpoint = new FoldedShapes([...found].map(([name, { shape }]) => [name, shape]));
  const prefix = prefixHint(expected, found, groups);
  if (prefix) return [prefix];
  const hints: Hint[] = [];
  for (const rule of SETTINGS) {
    const [a, b] = [rule.read(model), rule.read(checkpoint)];
    if (a === undefined || b === undefined || a === b) continue;
    hints.push(toHint(rule, a, b, groups, checkpoint, model));
    if (rule.name === 'kind') break; // every other difference follows from it
  }
  return hints;
}

function toHint(
  rule: SettingRule,
  model: Setting,
  checkpoint: Setting,
  groups: readonly KeyGroup[],
  found: FoldedShapes,
  wanted: FoldedShapes,
): Hint {
  const hint = {
    setting: rule.name,
    model,
    checkpoint,
    evidence: groups.find(({ name }) => rule.about.test(name)),
  };
  if (rule.name === 'kind')
    return { ...hint, as: '', change: '', text: `the checkpoint is ${checkpoint}, the model is ${model}.` };
  if (rule.name === 'patches') {
    const as = describeGrid(Number(checkpoint), found);
    const text = `the checkpoint has ${as}, the model ${describeGrid(Number(model), wanted)}.`;
    return { ...hint, as, change: 'img_size, patch_size and stride to match', text };
  }
  // Language models call it d_model.
  const name = rule.name === 'embed_dim' && found.has('embedding.weight') ? 'd_model' : rule.name;
  const [there, here] = [quote(checkpoint), quote(model)];
  return {
    ...hint,
    setting: name,
    as: `${name} ${there}`,
    change: `${name} to ${there}`,
    text: `${name} is ${there} in the checkpoint and ${here} in the model.`,
  };
}

function quote(value: Setting): string {
  return typeof value === 'string' && !/^(a number|null)$/.test(value) ? `"${value}"` : String(value);
}

/** `14 x 14 patches (img_size 224 at stride 16, or a smaller stride)`. */
function describeGrid(patches: number, k: FoldedShapes): string {
  const side = Math.sqrt(patches);
  if (!Number.isInteger(side)) return `${patches} patches`;
  const size = k.get('patch_embed.proj.weight')?.[2];
  return `${side} x ${side} patches${size ? ` (img_size ${side * size} at stride ${size}, or a smaller stride)` : ''}`;
}

/** A prefix that all the model's names carry in the checkpoint, e.g. `backbone.` in one for segmentation. */
function prefixHint(
  expected: readonly ExpectedKey[],
  found: ReadonlyMap<string, FoundKey>,
  groups: readonly KeyGroup[],
): Hint | undefined {
  if (expected.some(({ name }) => found.has(name))) return undefined;
  const names = new Set(expected.map(({ name }) => name));
  const counts = new Map<string, number>();
  for (const key of found.keys()) {
    for (let dot = key.indexOf('.'); dot >= 0 && dot < 100; dot = key.indexOf('.', dot + 1)) {
      const prefix = key.slice(0, dot + 1);
      if (names.has(key.slice(dot + 1))) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const [prefix, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  if (count * 2 < expected.length) return undefined;
  const evidence = groups.find(({ problem, name }) => problem === 'unexpected' && name.startsWith(prefix));
  const text = `${count} of the model's ${expected.length} names are there after the prefix "${prefix}".`;
  return { setting: 'prefix', model: '', checkpoint: prefix, as: '', change: '', text, evidence };
}
