/**
 * The Mamba mixer (Gu & Dao 2023, Figure 3) and its bidirectional forms in Vision Mamba (Zhu et al. 2024,
 * Algorithm 1). Axes: B batch, L length, D d_inner, N d_state.
 */
import type { ModelBuilder, ScanInputs } from '../program/modelBuilder';
import type { Value } from '../program/value';

/** How the two directions of the sequence share their parameters. */
export type BimambaType = 'none' | 'v1' | 'v2';

export interface MixerConfig {
  dModel: number;
  dInner: number;
  dState: number;
  dConv: number;
  dtRank: number;
  bias: boolean;
  convBias: boolean;
  bimambaType: BimambaType;
  /** v2 only: the mean of the two directions instead of their sum. */
  divideOut: boolean;
  /** With it, the output is multiplied by `gamma` (d_model), which starts at this value. */
  initLayerScale: number | undefined;
}

/** hidden (B, L, d_model) -> (B, L, d_model). */
export function mixer(p: ModelBuilder, hidden: Value, c: MixerConfig): Value {
  const x = p.transpose(hidden, 1, 2); // (B, d_model, L)
  const xz = p.project(x, 'in_proj', 2 * c.dInner, c.bias); // (B, 2D, L)
  const y = bothDirections(p, xz, c); // (B, D, L)
  const out = p.linear(p.transpose(y, 1, 2), 'out_proj', c.dModel, c.bias); // (B, L, d_model)
  if (c.initLayerScale === undefined) return out;
  return p.mul(out, p.parameter('gamma', [c.dModel]));
}

/** xz (B, 2D, L) -> y (B, D, L) by one scan or by two that run against each other. */
function bothDirections(p: ModelBuilder, xz: Value, c: MixerConfig): Value {
  switch (c.bimambaType) {
    case 'none':
      return scanDirection(p, xz, '', c);
    case 'v1':
      return sharedDirections(p, xz, c);
    case 'v2':
      return separateDirections(p, xz, c);
  }
}

/** v2: each direction has its own convolution, projections, A and D. */
function separateDirections(p: ModelBuilder, xz: Value, c: MixerConfig): Value {
  const yForward = p.direction('forward', () => scanDirection(p, xz, '', c)); // (B, D, L)
  const yBackward = p.direction('backward', () => scanDirection(p, p.flip(xz, 2), '_b', c)); // (B, D, L), last token first
  const sum = p.add(yForward, p.flip(yBackward, 2));
  return c.divideOut ? p.scale(sum, 1 / 2) : sum;
}

/** v1: both directions scan the same u, delta, B and C; only A differs. */
function sharedDirections(p: ModelBuilder, xz: Value, c: MixerConfig): Value {
  const { u, delta, A, B, C, D, z } = selection(p, xz, '', c);
  const yForward = p.direction('forward', () => p.selectiveScan({ u, delta, A, B, C, D, z })); // (B, D, L)
  const yBackward = p.direction('backward', () =>
    p.selectiveScan({
      u: p.flip(u, 2),
      delta: p.flip(delta, 2),
      A: stateMatrix(p, 'A_b_log', c),
      B: p.flip(B, 2),
      C: p.flip(C, 2),
      D,
      z: p.flip(z, 2),
    }),
  ); // (B, D, L), last token first
  return p.add(yForward, p.flip(yBackward, 2));
}

/** One direction: xz (B, 2D, L) -> y (B, D, L), gated by silu(z). */
function scanDirection(p: ModelBuilder, xz: Value, suffix: string, c: MixerConfig): Value {
  const { u, delta, A, B, C, D, z } = selection(p, xz, suffix, c);
  return p.selectiveScan({ u, delta, A, B, C, D, z }); // (B, D, L)
}

/** The selection mechanism (Algorithm 2): delta, B and C are functions of the input. */
function selection(p: ModelBuilder, xz: Value, suffix: string, c: MixerConfig): Required<ScanInputs> {
  const [x, z] = p.split(xz, 1, [c.dInner, c.dInner]); // (B, D, L)
  const u = p.silu(p.causalConv1d(x, `conv1d${suffix}`, c.dConv, c.convBias)); // (B, D, L)
  const xDbl = p.project(u, `x_proj${suffix}`, c.dtRank + 2 * c.dState, false); // (B, R + 2N, L)
  const [dt, B, C] = p.split(xDbl, 1, [c.dtRank, c.dState, c.dState]); // (B, R, L), (B, N, L), (B, N, L)
  const delta = p.softplus(p.project(dt, `dt_proj${suffix}`, c.dInner, true)); // (B, D, L)
  const A = stateMatrix(p, suffix ? 'A_b_log' : 'A_log', c); // (D, N)
  const D = p.parameter(suffix ? 'D_b' : 'D', [c.dInner], ['D']);
  return { u, delta, A, B, C, D, z };
}

/** A = -exp(A_log), (D, N): negative, so that every state decays. */
function stateMatrix(p: ModelBuilder, name: string, c: MixerConfig): Value {
  return p.neg(p.exp(p.parameter(name, [c.dInner, c.dState], ['D', 'N'])));
}
