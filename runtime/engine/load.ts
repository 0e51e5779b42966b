import { formatBytes } from '../../src/protocol/numbers';
import { type Checkpoint, InputError, openCheckpoint } from '../checkpoint';
import { formatKeyReport, matchKeys } from '../checkpoint/match';
import type { TensorRecord } from '../checkpoint/record';
import { loadInput, loadTokens } from '../image/input';
import { ConfigError } from '../models/arguments';
import { initialValues, Random } from '../models/initialize';
import { mambaLm } from '../models/mambaLm';
import { canonicalName, type MambaLmConfig } from '../models/mambaLmConfig';
import { visionMamba } from '../models/vim';
import type { VimConfig } from '../models/vimConfig';
import { trainingStep } from '../program/backward';
import { ModelBuilder } from '../program/modelBuilder';
import type { Program } from '../program/program';
import type { Value } from '../program/value';
import { numel, Tensor } from '../tensor/tensor';
import { huggingFaceTokenizer } from '../text/huggingFace';
import { readText, tokensOfText } from '../text/textInput';
import { openTokenizer, type Tokenizer } from '../text/tokenizer';
import type { Execution } from './execution';
import { chooseLoss, type LossChoice, type LossRequest } from './loss/choice';
import { type Architecture, type ModelSpec, readModelSpec } from './modelSpec';
import { RunState } from './state';

/** What to run; paths are absolute. */
export interface LoadRequest extends LossRequest {
  model: string | Record<string, unknown>;
  checkpoint?: string;
  input?: string;
  /** For language models, instead of an input. */
  text?: string;
  seed: number;
  /** Megabytes of results to keep for stepping back. */
  memoryLimit?: number;
  /** Keep only what the rest of the run reads: less memory, but looking back computes again. */
  lean?: boolean;
}

/** A model that is ready to run. */
export interface Loaded {
  spec: ModelSpec;
  state: RunState;
  labels: string[];
  /** Class that each image of the batch should have, as far as known. */
  expected: number[];
  /** For language models whose folder has one. */
  tokenizer?: Tokenizer;
  /** What was loaded and what to know about it, a line each. */
  notes: string[];
}

/** Megabytes of results that a run keeps for stepping back unless the request says otherwise. */
const DEFAULT_MEMORY = 512;

/** How many tokens a language model reads when none are given. */
const RANDOM_TOKENS = 32;

/** Tells how far loading is; may throw to cancel it. */
export type Progress = (step: string) => Promise<void>;

/**
 * Builds the model and fills it. Throws a `ConfigError`, `ShapeError`, `CheckpointError` or `InputError` with one
 * sentence; nothing of the model has run by then.
 */
export async function load(
  request: LoadRequest,
  readSource: (source: string) => string | undefined,
  progress: Progress,
): Promise<Loaded> {
  await progress('Reading the model');
  const spec = await readModelSpec(request.model);
  const notes: string[] = [];
  await progress('Reading the input');
  const { tokenizer, problem } = await tokenizerOf(spec);
  if (problem) notes.push(problem);
  const given = await readInput(request, spec, tokenizer);
  notes.push(given.described);
  await progress('Building the program');
  const expected = request.label === undefined ? (given.labels ?? []) : [request.label];
  const loss = chooseLoss(request, spec, given.input.shape, expected);
  if (loss?.note) notes.push(loss.note);
  const program = buildProgram(spec, given.input.shape, loss);
  const state = new RunState(program, readSource, {
    limit: 1e6 * (request.memoryLimit ?? DEFAULT_MEMORY),
    lean: request.lean,
  });
  notes.push(...memoryNotes(request, state.execution));
  state.execution.fill(Object.values(program.inputs)[0], given.input.toArray());
  if (loss?.labels) state.execution.fill(program.inputs['labels'], Float32Array.from(loss.labels));
  await progress('Reading the weights');
  notes.push(...(await fillWeights(request, spec, program, state.execution)));
  return { spec, state, labels: spec.labels, expected, tokenizer, notes };
}

/** A limit that is too low for this model is raised, which a person who set one should know. */
function memoryNotes({ memoryLimit }: LoadRequest, { limit }: Execution): string[] {
  if (!memoryLimit || limit <= 1e6 * memoryLimit) return [];
  return [
    `Stepping back in this model needs ${formatBytes(limit)}, so that is used instead of ${memoryLimit} MB.`,
  ];
}

function buildProgram(spec: ModelSpec, shape: readonly number[], loss: LossChoice | undefined): Program {
  const p = new ModelBuilder();
  const kind = spec.architecture.kind === 'vim' ? 'VisionMamba' : 'MambaLM';
  const program = p.build(spec.name, kind, () => {
    const input = inputOf(p, spec.architecture, shape);
    const logits = logitsOf(p, spec.architecture, input);
    return loss ? { logits, loss: loss.build(p, logits, input) } : logits;
  });
  return loss ? trainingStep(program, program.outputs['loss']) : program;
}

function inputOf(p: ModelBuilder, { kind }: Architecture, shape: readonly number[]): Value {
  return kind === 'vim'
    ? p.input('input', shape, ['B', 'C', 'H', 'W'])
    : p.input('input_ids', shape, ['B', 'L']);
}

function logitsOf(p: ModelBuilder, architecture: Architecture, input: Value): Value {
  return architecture.kind === 'vim'
    ? visionMamba(p, input, architecture.config)
    : mambaLm(p, input, architecture.config);
}

interface Given {
  input: Tensor;
  labels?: number[];
  described: string;
}

/** A tokenizer that cannot be used is no reason not to run the model on token ids. */
async function tokenizerOf({
  architecture,
  folder,
}: ModelSpec): Promise<{ tokenizer?: Tokenizer; problem?: string }> {
  if (architecture.kind !== 'mambaLm' || !folder) return {};
  try {
    return { tokenizer: await openTokenizer(folder, huggingFaceTokenizer) };
  } catch (error) {
    if (error instanceof InputError) return { problem: error.message };
    throw error;
  }
}

async function readInput(
  request: LoadRequest,
  { architecture, preprocess }: ModelSpec,
  tokenizer: Tokenizer | undefined,
): Promise<Given> {
  if (architecture.kind === 'mambaLm') return readTokens(request, architecture.config, tokenizer);
  if (request.text !== undefined)
    throw new ConfigError('"text" is for language models; give this model an image as "input".');
  const { channels, imgSize } = architecture.config;
  if (request.input) return loadInput(request.input, { channels, imgSize, preprocess });
  return noise(architecture.config, request.seed);
}

function noise({ channels, imgSize }: VimConfig, seed: number): Given {
  const shape = [1, channels, imgSize, imgSize];
  const random = new Random('input', seed);
  const data = Float32Array.from({ length: numel(shape) }, () => random.truncatedNormal());
  return {
    input: new Tensor(data, shape),
    described: `No "input" was given: the image is noise from seed ${seed}.`,
  };
}

async function readTokens(
  request: LoadRequest,
  { vocabSize }: MambaLmConfig,
  tokenizer: Tokenizer | undefined,
): Promise<Given> {
  const fromFile = request.input?.endsWith('.txt') ? readText(request.input) : undefined;
  const text = request.text ?? fromFile;
  if (text !== undefined) return tokensOfText(text, tokenizer, vocabSize);
  if (request.input) return loadTokens(request.input, vocabSize);
  const random = new Random('input_ids', request.seed);
  const data = Float32Array.from({ length: RANDOM_TOKENS }, () => Math.floor(random.uniform() * vocabSize));
  return {
    input: new Tensor(data, [1, RANDOM_TOKENS]),
    described: `No "input" or "text" was given: ${RANDOM_TOKENS} random tokens from seed ${request.seed}.`,
  };
}

async function fillWeights(
  request: LoadRequest,
  spec: ModelSpec,
  program: Program,
  execution: Execution,
): Promise<string[]> {
  const path = request.checkpoint ?? spec.weights;
  if (!path) return fillRandom(request.seed, spec.architecture, program, execution);
  const checkpoint = await openCheckpoint(path);
  const { entries, notes } = entriesFor(spec.architecture, checkpoint);
  const expected = program.parameters.map(({ name, value, fallback }) => ({
    name,
    shape: value.shape,
    optional: fallback !== undefined,
  }));
  const report = matchKeys(expected, entries);
  if (!report.fits) throw new WeightsError(formatKeyReport(report));
  for (const { name, value, fallback } of program.parameters) {
    execution.fill(value, entries.get(name)?.load().toArray() ?? fallback!);
  }
  notes.unshift(`Weights: ${program.parameters.length} tensors from ${path} (${checkpoint.format}).`);
  if (report.unexpected.length > 0) notes.push(formatKeyReport(report));
  return notes;
}

function fillRandom(
  seed: number,
  { config }: Architecture,
  program: Program,
  execution: Execution,
): string[] {
  const scale = config.mixer.initLayerScale;
  for (const { name, value, fallback } of program.parameters) {
    const room = execution.roomFor(value);
    execution.fill(value, fallback ?? initialValues(name, value.shape, seed, config.depth, scale, room));
  }
  return [`No "checkpoint" was given: the weights are random, from seed ${seed}.`];
}

interface Entries {
  entries: Map<string, TensorRecord>;
  notes: string[];
}

/** The checkpoint's tensors under the names that the model uses. */
function entriesFor(architecture: Architecture, checkpoint: Checkpoint): Entries {
  if (architecture.kind === 'vim') return { entries: checkpoint.entries, notes: [] };
  const entries = new Map([...checkpoint.entries].map(([key, record]) => [canonicalName(key), record]));
  return architecture.config.tiedHead ? withoutHead(entries) : { entries, notes: [] };
}

/** A tied head is the embedding once more; saying so matters when the file holds another one. */
function withoutHead(entries: Map<string, TensorRecord>): Entries {
  const [head, table] = [entries.get('lm_head.weight'), entries.get('embedding.weight')];
  entries.delete('lm_head.weight');
  if (!head || !table || sameValues(head.load(), table.load())) return { entries, notes: [] };
  const note =
    'The checkpoint has an lm_head.weight that differs from the embedding, but the configuration ties the two, so ' +
    'it is not used; set "tie_word_embeddings" (or "tie_embeddings") to false to use it.';
  return { entries, notes: [note] };
}

function sameValues(a: Tensor, b: Tensor): boolean {
  const [x, y] = [a.toArray(), b.toArray()];
  return x.length === y.length && x.every((value, i) => value === y[i]);
}

/** The checkpoint does not fit the model; the message holds the headline and the table. */
export class WeightsError extends Error {}
