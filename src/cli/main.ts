/** `scanpoint` on the command line: the engine without an editor. */
import { join } from 'node:path';
import { useKernels } from '../../runtime/engine/kernelNotice';
import { BENCH_USAGE, bench } from './bench/bench';
import { generate } from './generate';
import { GENERATE_USAGE, readGenerateOptions } from './generateOptions';
import { readRunOptions, USAGE } from './options';
import { run } from './run';

interface Command {
  usage: string;
  start(args: string[]): Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  run: { usage: USAGE, start: (args) => run(readRunOptions(args), join(__dirname, '..')) },
  generate: { usage: GENERATE_USAGE, start: (args) => generate(readGenerateOptions(args)) },
  bench: { usage: BENCH_USAGE, start: (args) => bench(args, __dirname) },
};

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (name === undefined || name === 'help' || args.includes('--help') || args.includes('-h')) {
    const usages = command ? [command.usage] : Object.values(COMMANDS).map(({ usage }) => usage);
    console.log(usages.join('\n\n'));
    return name === undefined ? 1 : 0;
  }
  if (command) {
    const notice = useKernels(__dirname);
    if (notice) console.error(notice);
    return command.start(rest);
  }
  const names = Object.keys(COMMANDS).map((known) => `"${known}"`);
  const all = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  console.error(`scanpoint: there is no command "${name}", only ${all}. Try scanpoint --help.`);
  return 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`scanpoint: ${sentence(error)}`);
    process.exitCode = 1;
  },
);

/** Faults of the input are sentences; faults of ours keep their stack. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const ours = error instanceof TypeError || error instanceof ReferenceError;
  return ours ? `a fault in Scanpoint: ${error.stack}` : error.message;
}
