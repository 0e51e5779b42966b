/** A checkpoint that cannot be used: one sentence of what is wrong, one of what to do. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

/** A model input (image, array) that cannot be used, told in the same way. */
export class InputError extends Error {
  override readonly name = 'InputError';
}
