/** `scanpoint` on the command line: the engine without an editor. */
import { join } from 'node:path';
import { useNativeFolder } from '../../runtime/kernels/native/file';
import { readRunOptions, USAGE } from './options';
import { run } from './run';

async function main(args: string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === undefined || command === 'help' || args.includes('--help') || args.includes('-h')) {
    console.log(USAGE);
    return command === undefined ? 1 : 0;
  }
  if (command === 'run') return run(readRunOptions(rest), join(__dirname, '..'));
  console.error(
    `scanpoint: there is no command "${command}"; the one command is "run". Try scanpoint --help.`,
  );
  return 1;
}

useNativeFolder(__dirname);
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
