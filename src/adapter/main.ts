/**
 * The debug adapter on stdio: any DAP client can start it (`node dist/adapter.js`). A client that knows more may say
 * `--pytorch` (a Python process will be debugged), `--questions` (it answers `scanpoint/question`), and
 * `--storage FOLDER` (for what has to be installed).
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Adapter } from './adapter';
import { defaultStorage } from './pytorch/debugpyLocator';

const root = join(__dirname, '..');
const { values } = parseArgs({
  options: {
    pytorch: { type: 'boolean', default: false },
    questions: { type: 'boolean', default: false },
    storage: { type: 'string', default: defaultStorage() },
    agent: { type: 'string', default: join(root, 'runtime', 'agent') },
  },
  strict: false,
});

const adapter = new Adapter(
  {
    root,
    engine: join(__dirname, 'engine.js'),
    guard: join(root, 'runtime', 'agent', 'guarded_adapter.py'),
    neutral: __dirname,
    agent: String(values.agent),
    storage: String(values.storage),
    asks: values.questions === true,
    pytorch: values.pytorch === true,
  },
  process.stdout,
  () => process.exit(0),
);
adapter.listen(process.stdin);
