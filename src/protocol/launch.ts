/** The arguments of a launch configuration of type `mamba` for the embedded target. */
export interface EmbeddedLaunch {
  /**
   * A published name, a JSON file with the constructor's arguments, both given as an object, or a folder as Hugging
   * Face saves it.
   */
  model: string | Record<string, unknown>;
  /** safetensors or PyTorch file; absent means the one in the model's folder, else weights from `seed`. */
  checkpoint?: string;
  /**
   * PNG, JPEG, `.npy`, or a safetensors file with `input` (and `labels`); for language models `.npy`, a safetensors
   * file with `input_ids`, a JSON list, or a `.txt`.
   */
  input?: string;
  /** For language models whose folder has a tokenizer, instead of `input`. */
  text?: string;
  /** Class index the person expects; shown with the result. */
  label?: number;
  /** Compute a loss and its gradients after the forward pass: of `label`, or of the next tokens. */
  backward?: boolean;
  /** Start the backward pass from this expression over `logits`, `input` and `label` instead; turns it on. */
  loss?: string;
  /** For seeded weights; 0 by default. */
  seed?: number;
  /** Megabytes of results to keep for stepping back; 512 by default. What is dropped is computed again. */
  memoryLimit?: number;
  /** Threads that compute, never more than there are cores; 0, the default, chooses for the machine. */
  threads?: number;
  stopOnEntry?: boolean;
  breakpoints?: LaunchBreakpoint[];
  /** Set by VS Code for "Run Without Debugging". */
  noDebug?: boolean;
}

export interface LaunchBreakpoint {
  name: string;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}
