/** The allow-list: every global that a checkpoint may name, and the sentence that refuses any other. */
import type { DType } from '../../tensor/dtype';
import { CheckpointError } from '../errors';
import { quoteName } from '../record';
import { Global, type Role } from './values';

/** Storage classes (`torch.FloatStorage`) by element type. */
const STORAGES: Record<string, DType> = {
  DoubleStorage: 'float64',
  FloatStorage: 'float32',
  HalfStorage: 'float16',
  BFloat16Storage: 'bfloat16',
  LongStorage: 'int64',
  IntStorage: 'int32',
  ShortStorage: 'int16',
  CharStorage: 'int8',
  ByteStorage: 'uint8',
  BoolStorage: 'bool',
};

const TORCH_DTYPES: Record<string, DType> = {
  float64: 'float64',
  double: 'float64',
  float32: 'float32',
  float: 'float32',
  float16: 'float16',
  half: 'float16',
  bfloat16: 'bfloat16',
  int64: 'int64',
  long: 'int64',
  int32: 'int32',
  int: 'int32',
  int16: 'int16',
  short: 'int16',
  int8: 'int8',
  uint8: 'uint8',
  bool: 'bool',
};

const CALLS: Record<string, Extract<Role, { kind: 'call' }>['name']> = {
  'torch._utils._rebuild_tensor': 'tensor',
  'torch._utils._rebuild_tensor_v2': 'tensor',
  'torch._utils._rebuild_tensor_v3': 'tensorV3',
  'torch._utils._rebuild_parameter': 'parameter',
  'torch._utils._rebuild_parameter_with_state': 'parameter',
  'torch.nn.parameter.Parameter': 'parameter',
  'torch._tensor._rebuild_from_type_v2': 'fromType',
  'collections.OrderedDict': 'dict',
  'collections.defaultdict': 'dict',
  'collections.Counter': 'dict',
  'builtins.dict': 'dict',
  'builtins.list': 'list',
  'builtins.set': 'list',
  'builtins.frozenset': 'list',
  'builtins.tuple': 'tuple',
  'torch.Size': 'tuple',
};

/** Data beside the weights in training checkpoints. Built as an opaque record; nothing of it is used. */
const INERT = new Set([
  'argparse.Namespace',
  'types.SimpleNamespace',
  'pathlib.Path',
  'pathlib.PosixPath',
  'pathlib.WindowsPath',
  'pathlib.PurePosixPath',
  'pathlib.PureWindowsPath',
  'pathlib._local.PosixPath',
  'pathlib._local.WindowsPath',
  'builtins.int',
  'builtins.float',
  'builtins.str',
  'builtins.bool',
  'builtins.bytes',
  'builtins.bytearray',
  'builtins.complex',
  'builtins.slice',
  'builtins.range',
  'datetime.datetime',
  'datetime.date',
  'datetime.timedelta',
  'torch.device',
  'torch.strided',
  'torch.Tensor',
  'torch.nn.parameter.Buffer',
  'torch.serialization._get_layout',
  'numpy.dtype',
  'numpy.ndarray',
  'numpy.bool_',
  'numpy.int64',
  'numpy.int32',
  'numpy.float64',
  'numpy.float32',
  'numpy.core.multiarray.scalar',
  'numpy.core.multiarray._reconstruct',
  'numpy._core.multiarray.scalar',
  'numpy._core.multiarray._reconstruct',
  '_codecs.encode',
]);

/** Modules whose functions act on the machine: a pickle that names one was made to attack. */
const ACTING = new Set(
  (
    'os posix nt subprocess sys shutil socket importlib runpy pty ctypes code codeop commands webbrowser pickle ' +
    '_pickle marshal operator functools platform multiprocessing threading asyncio urllib http requests timeit ' +
    'pdb bdb cProfile profile tempfile signal io _io site pip builtins types inspect gc ssl ftplib smtplib'
  ).split(' '),
);

/** Kinds of tensors that are named by their rebuild function. */
const OTHER_TENSORS: [RegExp, string, string][] = [
  [/_rebuild_sparse/, 'a sparse tensor', 'Save it with .to_dense().'],
  [/_rebuild_qtensor|QU?Int\w+Storage/, 'a quantised tensor', 'Save it with .dequantize().'],
  [/Complex\w+Storage|torch\.complex/, 'a complex tensor', 'Save its real and imaginary parts.'],
  [/_rebuild_nested_tensor/, 'a nested tensor', 'Save its parts as ordinary tensors.'],
  [
    /_rebuild_meta_tensor/,
    'a meta tensor, which has no values',
    'Save the model after its weights are loaded.',
  ],
  [/torch\.(float8|float4|u?int)\w*$/, 'an unsupported element type', 'Save it as float32.'],
];

/** Finds a global by module and name. Throws a CheckpointError that names it when it is not on the list. */
export function findGlobal(module: string, name: string, file: string): Global {
  const path = `${module === '__builtin__' ? 'builtins' : module}.${name}`;
  const role = roleOf(path);
  if (role) return new Global(path, role);
  throw refusal(`${module}.${name}`, path, file);
}

function roleOf(path: string): Role | undefined {
  if (Object.hasOwn(CALLS, path)) return { kind: 'call', name: CALLS[path] };
  if (INERT.has(path) || path.startsWith('numpy.dtypes.')) return { kind: 'inert' };
  const inTorch = /^torch(?:\.cuda|\.storage)?\.(\w+)$/.exec(path)?.[1] ?? '';
  if (Object.hasOwn(STORAGES, inTorch)) return { kind: 'storage', dtype: STORAGES[inTorch] };
  if (inTorch === 'UntypedStorage' || inTorch === 'TypedStorage')
    return { kind: 'storage', dtype: undefined };
  if (path === `torch.${inTorch}` && Object.hasOwn(TORCH_DTYPES, inTorch))
    return { kind: 'dtype', dtype: TORCH_DTYPES[inTorch] };
  return undefined;
}

function refusal(written: string, path: string, file: string): CheckpointError {
  const named = quoteName(written).slice(1, -1);
  if (ACTING.has(path.split('.')[0])) {
    return new CheckpointError(
      `The checkpoint ${file} asks to run ${named}, which a checkpoint of tensors never needs; do not trust this ` +
        'file. Nothing was run; get the weights as safetensors from a source that you trust.',
    );
  }
  const tensor = OTHER_TENSORS.find(([pattern]) => pattern.test(path));
  if (tensor)
    return new CheckpointError(
      `The checkpoint ${file} holds ${tensor[1]} (${named}), which is not read. ${tensor[2]}`,
    );
  return new CheckpointError(
    `The checkpoint ${file} holds an object of ${named}, and building it would run code, so it was refused. ` +
      'Re-save only the weights where it was made: torch.save(model.state_dict(), ...), or as safetensors.',
  );
}
