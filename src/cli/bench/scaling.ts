import { formatNumber } from '../../protocol/numbers';
import type { Context } from './context';
import { fastest, time } from './measure';
import { scanSeconds } from './scan';

/** How time grows, as a ratio per unit of work: 1 is linear. */
export async function* scalingFigures(c: Context): AsyncGenerator<string> {
  c.threads(1);
  yield* lengths(c);
  yield* batches(c);
  yield* models(c);
}

async function* lengths(c: Context): AsyncGenerator<string> {
  const first = scanSeconds(c, [1, 384, 197, 16]);
  for (const length of [788, 3152, 12_800]) {
    const { forward, backward } = scanSeconds(c, [1, 384, length, 16]);
    const times = 197 / length;
    yield `scan of ${length} tokens: ${time(forward)} and ${time(backward)} backward; per token ${formatNumber((forward / first.forward) * times)} x and ${formatNumber((backward / first.backward) * times)} x of 197`;
  }
  const forward = (size: number) => modelSeconds(c, { img_size: size, patch_size: 16, stride: 16 });
  const base = await forward(224);
  for (const size of [448, 896, 1792]) {
    const tokens = (size / 16) ** 2 + 1;
    const seconds = await forward(size);
    yield `Vim-tiny forward with ${tokens} tokens: ${time(seconds)}; per token ${formatNumber((seconds / base) * (197 / tokens))} x of 197`;
  }
}

async function* batches(c: Context): AsyncGenerator<string> {
  const one = scanSeconds(c, [1, 384, 197, 16]);
  for (const batch of [4, 16]) {
    const { forward, backward } = scanSeconds(c, [batch, 384, 197, 16]);
    yield `scan of batch ${batch}: per element ${formatNumber(forward / batch / one.forward)} x and ${formatNumber(backward / batch / one.backward)} x backward`;
  }
}

async function* models(c: Context): AsyncGenerator<string> {
  let tiny = 0;
  for (const [name, width] of [
    ['tiny', 192],
    ['small', 384],
    ['base', 768],
  ] as const) {
    const seconds = await modelSeconds(c, { embed_dim: width });
    tiny ||= seconds / parametersOf(192);
    yield `Vim-${name} forward: ${time(seconds)}; per parameter ${formatNumber(seconds / parametersOf(width) / tiny)} x of tiny`;
  }
}

/** Parameters grow with the square of the width in all but the smallest layers. */
const parametersOf = (width: number) => width * width;

async function modelSeconds(c: Context, changed: Record<string, unknown>): Promise<number> {
  const model = {
    img_size: 224,
    patch_size: 16,
    stride: 16,
    embed_dim: 192,
    depth: 24,
    bimamba_type: 'v2',
    if_divide_out: true,
    final_pool_type: 'mean',
    if_abs_pos_embed: true,
    if_cls_token: true,
    use_middle_cls_token: true,
    ...changed,
  };
  const { state } = await c.load({ model });
  const seconds = fastest(() => state.execution.runAll(), c.budget);
  state.execution.dispose();
  return seconds;
}
