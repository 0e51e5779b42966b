import { resolve } from 'node:path';
import { InputError } from '../../runtime/checkpoint';
import { Generation } from '../../runtime/engine/generation';
import { closingLine } from '../../runtime/engine/generationAnswer';
import { type Loaded, load } from '../../runtime/engine/load';
import { readModelSpec } from '../../runtime/engine/modelSpec';
import { TextStream } from '../../runtime/text/textStream';
import type { GenerateOptions } from './generateOptions';
import { StandardOutput } from './standardOutput';

/** A written token as `--json` gives it; `text` only with a tokenizer. */
interface Token {
  id: number;
  text?: string;
  probability: number;
}

/** Everything that was written, and how long it took without reading the prompt. */
interface Outcome {
  tokens: Token[];
  text: string;
  /** The last token is an end token. */
  ended: boolean;
  seconds: number;
}

/** Writes tokens as they come, then how fast they came. Gives the process's exit code. */
export async function generate(options: GenerateOptions): Promise<number> {
  const { loaded, generation } = await open(options);
  const say = options.json ? () => {} : (line: string) => console.error(line);
  for (const note of loaded.notes) say(note);
  const output = new StandardOutput();
  const write = options.json ? async () => true : (text: string) => output.write(text);
  const outcome = await writeOn(generation, options, write);
  await write('\n');
  say(closingLine(outcome.tokens.length, outcome.seconds, outcome));
  if (options.json) console.log(JSON.stringify(report(loaded, generation, outcome)));
  return 0;
}

async function open({ model, checkpoint, input, text, seed }: GenerateOptions) {
  const spec = await readModelSpec(model);
  if (spec.architecture.kind !== 'mambaLm')
    throw new InputError(
      `"scanpoint generate" takes a Mamba language model, and ${spec.name} is a vision model; use "scanpoint run".`,
    );
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  const request = { model, checkpoint: absolute(checkpoint), input: absolute(input), text, seed };
  const loaded = await load(
    request,
    () => undefined,
    async () => {},
  );
  return { loaded, generation: Generation.of(loaded)! };
}

async function writeOn(
  generation: Generation,
  options: GenerateOptions,
  write: (text: string) => Promise<boolean>,
): Promise<Outcome> {
  const { tokenizer } = generation;
  const stream = tokenizer && new TextStream(tokenizer, generation.prompt());
  const outcome: Outcome = { tokens: [], text: '', ended: false, seconds: 0 };
  const add = (piece: string) => {
    outcome.text += piece;
    return write(piece);
  };
  const pieceOf = (id: number, end: boolean) => {
    if (!stream) return outcome.tokens.length > 0 ? ` ${id}` : String(id);
    return end ? '' : stream.push(id);
  };
  let started = performance.now();
  for await (const step of generation.steps(options)) {
    if (step.kind === 'read') {
      started = performance.now();
      continue;
    }
    const { id, probability, end } = step;
    const piece = pieceOf(id, end);
    outcome.tokens.push({ id, text: tokenizer?.decode([id]), probability });
    outcome.ended = end;
    if (!(await add(piece))) break;
  }
  outcome.seconds = (performance.now() - started) / 1000;
  if (stream) await add(stream.end());
  return outcome;
}

function report(loaded: Loaded, generation: Generation, { tokens, text, ended, seconds }: Outcome) {
  return {
    model: loaded.state.program.name,
    notes: loaded.notes,
    prompt: generation.prompt(),
    tokens,
    text: generation.tokenizer && text,
    ended,
    seconds,
    tokensPerSecond: tokens.length / seconds,
  };
}
