/** Weights from a seed, with the distributions that the original initialises with (its random numbers differ). */

/** Small fast generator with 32 bits of state (Mulberry32), seeded by a parameter's name and a number. */
export class Random {
  private state: number;

  constructor(name: string, seed: number) {
    this.state = seed >>> 0;
    for (const byte of new TextEncoder().encode(name)) this.state = (Math.imul(31, this.state) + byte) >>> 0;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Standard normal, cut off at two standard deviations. */
  truncatedNormal(): number {
    for (;;) {
      const x = Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
      if (Math.abs(x) <= 2) return x;
    }
  }
}

/** Values for one parameter, by its name and shape, written to `values`. `depth` is the model's number of blocks. */
export function initialValues(
  name: string,
  shape: readonly number[],
  seed: number,
  depth: number,
  layerScale = 1,
  values: Float32Array = new Float32Array(shape.reduce((n, size) => n * size, 1)),
): Float32Array {
  const random = new Random(name, seed);
  const fanIn = shape.slice(1).reduce((n, size) => n * size, 1);
  const fill = (value: (i: number) => number) => {
    // A plain loop: Float32Array.from over a length is five times slower, and a model has millions of these.
    for (let i = 0; i < values.length; i++) values[i] = value(i);
    return values;
  };
  const uniform = (bound: number) => fill(() => (2 * random.uniform() - 1) * bound);
  if (/A(_b)?_log$/.test(name)) return fill((i) => Math.log((i % shape[1]) + 1)); // S4D-real: A = -1 .. -N
  if (/\.D(_b)?$/.test(name) || /norm(_f)?\.weight$/.test(name)) return fill(() => 1);
  if (name.endsWith('.gamma')) return fill(() => layerScale);
  if (/dt_proj(_b)?\.bias$/.test(name)) return fill(() => stepBias(random));
  if (/dt_proj(_b)?\.weight$/.test(name)) return uniform(shape[1] ** -0.5);
  if (/conv1d(_b)?\.(weight|bias)$/.test(name)) return uniform(shape.length > 1 ? fanIn ** -0.5 : 0.5);
  if (name.endsWith('.bias')) return fill(() => 0);
  if (/pos_embed$|cls_token|^head\.weight$/.test(name)) return fill(() => 0.02 * random.truncatedNormal());
  if (name.endsWith('out_proj.weight')) return uniform(fanIn ** -0.5 / Math.sqrt(depth));
  if (name === 'patch_embed.proj.weight') return fill(() => fanIn ** -0.5 * random.truncatedNormal());
  return uniform(fanIn ** -0.5);
}

/** The inverse softplus of a step size between 0.001 and 0.1, uniform on a log scale. */
function stepBias(random: Random): number {
  const dt = Math.max(Math.exp(random.uniform() * Math.log(100) + Math.log(0.001)), 1e-4);
  return dt + Math.log(-Math.expm1(-dt));
}
