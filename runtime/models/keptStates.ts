/** States that are kept on the way, so that going back recomputes at most this many steps. */
const KEEP_EVERY = 16;

/** What a recurrence remembers of its way: the state after every 16th step, counted from 0. */
export class KeptStates {
  private readonly states = new Map<number, Float32Array>();

  /** Keeps the state after step k, if it is one to keep. */
  keep(k: number, state: Float32Array): void {
    if (k % KEEP_EVERY === 0 && !this.states.has(k)) this.states.set(k, state.slice());
  }

  /** Fills `state` with a kept one from before step k and gives its step; -1 with zeros when there is none. */
  restore(k: number, state: Float32Array): number {
    // The kept state is the one after its step, so the step itself must still be recomputed.
    const from = Math.floor((k - 1) / KEEP_EVERY) * KEEP_EVERY;
    const kept = this.states.get(from);
    if (kept) state.set(kept);
    else state.fill(0);
    return kept ? from : -1;
  }
}
