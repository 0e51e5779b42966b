import { describe, expect, test } from 'vitest';
import { CheckpointError } from '../../../runtime/checkpoint';
import {
  bytes,
  call,
  dict,
  floats,
  global,
  int,
  MAGIC,
  open,
  pickle,
  str,
  tensor,
  torchLegacy,
  torchZip,
  tuple,
  u64,
} from './build';

function refusal(file: Uint8Array): string {
  try {
    open(file);
  } catch (error) {
    expect(error).toBeInstanceOf(CheckpointError);
    return (error as Error).message;
  }
  return 'opened';
}

const run = (path: string) =>
  new RegExp(`asks to run ${path.replaceAll('.', '\\.')}, .*do not trust this file`);

describe('code in a pickle is named and not run', () => {
  const cmd = str('touch /tmp/owned');
  const cases: [string, Uint8Array, RegExp][] = [
    ['os.system', pickle(call(global('os.system'), cmd)), run('os.system')],
    [
      'posix.system by REDUCE within a state_dict',
      pickle(dict(str('w'), call(global('posix.system'), cmd))),
      run('posix.system'),
    ],
    ['builtins.eval', pickle(call(global('builtins.eval'), str('1'))), run('builtins.eval')],
    ['__builtin__.exec', pickle(call(global('__builtin__.exec'), str('1'))), run('__builtin__.exec')],
    ['builtins.getattr', pickle(call(global('builtins.getattr'), 'N', str('x'))), run('builtins.getattr')],
    [
      'subprocess.Popen by NEWOBJ',
      pickle(global('subprocess.Popen'), tuple(cmd), '\x81'),
      run('subprocess.Popen'),
    ],
    ['NEWOBJ_EX', pickle(global('subprocess.Popen'), tuple(cmd), '}', '\x92'), run('subprocess.Popen')],
    ['INST', bytes('\x80\x02(', cmd, 'ios\nsystem\n.'), run('os.system')],
    ['OBJ', pickle('(', global('os.system'), cmd, 'o'), run('os.system')],
    [
      'BUILD',
      pickle(call(global('argparse.Namespace')), dict(str('x'), call(global('os.system'), cmd)), 'b'),
      run('os.system'),
    ],
    ['STACK_GLOBAL', bytes('\x80\x04\x8c\x02os\x8c\x06system\x93.'), run('os.system')],
    [
      'within a persistent id',
      pickle(tuple(str('storage'), global('os.system'), str('0'), str('cpu'), int(1)), 'Q'),
      run('os.system'),
    ],
    [
      'importlib.import_module',
      pickle(call(global('importlib.import_module'), str('os'))),
      run('importlib.import_module'),
    ],
    ['runpy', pickle(call(global('runpy._run_code'), str('x'))), run('runpy._run_code')],
  ];
  test.each(cases)('%s', (_, data, message) => {
    expect(refusal(torchZip(data))).toMatch(message);
    expect(refusal(torchLegacy(data))).toMatch(message);
  });

  test('in the head of the old format, before the magic number is known', () => {
    expect(refusal(pickle(call(global('os.system'), cmd)))).toMatch(run('os.system'));
  });

  test('a whole model is refused by its class', () => {
    const message = refusal(torchZip(pickle(global('models_mamba.VisionMamba'), ')\x81')));
    expect(message).toMatch(/holds an object of models_mamba\.VisionMamba/);
    expect(message).toMatch(/torch\.save\(model\.state_dict\(\), \.\.\.\)/);
  });

  test.each([
    ['torch._utils._rebuild_sparse_tensor', /a sparse tensor .*\.to_dense\(\)/],
    ['torch._utils._rebuild_qtensor', /a quantised tensor .*\.dequantize\(\)/],
    ['torch.QInt8Storage', /a quantised tensor/],
    ['torch.ComplexFloatStorage', /a complex tensor/],
    ['torch.float8_e4m3fn', /an unsupported element type/],
    ['torch.hub.load', /holds an object of torch\.hub\.load/],
    ['torch.storage._load_from_bytes', /holds an object of torch\.storage\._load_from_bytes/],
    ['torch.nn.parameter.__dict__', /holds an object of/],
    ['numpy.load', /holds an object of numpy\.load/],
  ])('%s', (path, message) => {
    expect(refusal(torchZip(pickle(global(path))))).toMatch(message);
  });

  test('a name cannot fill the screen or write control characters', () => {
    const message = refusal(torchZip(pickle(`cx\u001b[2J${'y'.repeat(5000)}\nz\n`)));
    expect(message.length).toBeLessThan(400);
    expect(message).not.toContain('\u001b');
  });
});

describe('broken pickles', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['nothing but STOP', pickle(), /a value is taken from an empty stack/],
    ['POP below a MARK', pickle('N(0a'), /empty stack|appended/],
    ['no MARK', pickle('Nt'), /a MARK is missing/],
    ['APPEND to a number', pickle('K\x01K\x02a'), /items are appended to a number/],
    ['SETITEM on a string', pickle(str('a'), 'NNs'), /keys are set in a string/],
    ['SETITEMS of odd length', pickle('}(NNNu'), /a key has no value/],
    ['BUILD on a number', pickle('K\x01}b'), /a state is set on a number/],
    ['an unset memo', pickle('h\x07'), /memo 7 is used before it is set/],
    ['a memo far away', pickle('Nr\xff\xff\xff\xffj\xfe\xff\xff\xff'), /memo 4294967294 is used before/],
    ['a call of a string', pickle(str('x'), ')R'), /a string is called as a function/],
    ['a call of a dtype', pickle(global('torch.float32'), ')R'), /torch\.float32 is called as a function/],
    ['an unknown opcode', pickle('\xff'), /opcode 0xff is not one of pickle/],
    ['an extension opcode', pickle('\x82\x01'), /opcode 0x82/],
    ['an out-of-band buffer', pickle('\x97'), /opcode 0x97/],
    ['protocol 9', bytes('\x80\x09N.'), /protocol 9/],
    ['a string longer than the file', pickle('X\xff\xff\xff\x7fabc'), /ends within a value/],
    ['a string of 2^63 bytes', bytes('\x80\x04\x8d', u64(2n ** 63n), 'abc.'), /ends within a value/],
    ['a string that is not UTF-8', pickle('X\x01\x00\x00\x00\xff'), /not UTF-8/],
    [
      'a huge integer',
      pickle('\x8b\x00\x00\x10\x00', new Uint8Array(1 << 20)),
      /an integer has 1048576 bytes/,
    ],
    ['a negative length', pickle('\x8b\xff\xff\xff\xff'), /an integer has -1 bytes/],
    ['digits without end', pickle(`I${'9'.repeat(9000)}\n`), /not written in digits/],
    ['a line without end', pickle('V', 'x'.repeat(20000)), /a line has no end/],
    ['a frame beyond the file', bytes('\x80\x04\x95', u64(99), 'N.'), /a frame is longer than the file/],
    ['no STOP', bytes('\x80\x02N'), /ends within a value/],
    ['no dict', pickle('K\x07'), /holds no weights where they are expected, but a number/],
    ['no tensors', pickle(dict(str('epoch'), 'K\x01')), /but a dict of "epoch"/],
  ])('%s', (_, data, message) => {
    expect(refusal(torchZip(data))).toMatch(message);
  });

  test('nesting a million deep is built and dropped without recursion', () => {
    const deep = pickle(']'.repeat(1e6), 'a'.repeat(1e6 - 1), '0', dict(str('w'), tensor()));
    expect(refusal(torchZip(deep))).toBe('opened');
    const loops = pickle(']q\x00h\x00a', '0', dict(str('h'), 'h\x00', str('w'), tensor()));
    expect(refusal(torchZip(loops))).toBe('opened');
  });

  test('steps without end', () => {
    expect(refusal(torchZip(bytes('\x80\x02', new Uint8Array(5e6).fill(0x7d))))).toMatch(
      /more than 4 million steps/,
    );
  });
});

describe('tensors outside their storage', () => {
  const file = (parts: Parameters<typeof tensor>[0]) => torchZip(pickle(dict(str('w'), tensor(parts))));
  test.each<[string, Parameters<typeof tensor>[0], RegExp]>([
    [
      'too many elements',
      { shape: [3, 3], strides: [3, 1] },
      /shape \[3, 3\] needs 9 elements of storage 0, which holds 6/,
    ],
    ['an offset', { offset: 1 }, /needs 7 elements/],
    ['a stride', { strides: [9, 1] }, /needs 12 elements/],
    ['a negative stride', { strides: [-3, 1] }, /sizes, strides or offset of a tensor are not counts/],
    ['a negative size', { shape: [-2, -3] }, /are not counts/],
    ['a negative offset', { offset: -1 }, /are not counts/],
    ['sizes and strides of different length', { strides: [1] }, /has 2 sizes and 1 strides/],
    [
      'an absurd expansion',
      { shape: [2 ** 30, 2 ** 30], strides: [0, 0] },
      /shape \[1073741824, 1073741824\] needs ∞ elements/,
    ],
    ['more than its entry holds', { count: 7 }, /storage "0" should hold 28 bytes and holds 24/],
    ['no storage', { key: '../data.pkl' }, /storage "\.\.\/data\.pkl" is missing/],
  ])('%s', (_, parts, message) => {
    expect(refusal(file(parts))).toMatch(message);
  });

  test('a storage in the head of the old format', () => {
    expect(refusal(bytes(pickle(tensor()), '....'))).toMatch(/a storage is named in its head/);
  });

  test('the old format with wrong counts', () => {
    const good = torchLegacy(pickle(dict(str('w'), tensor())));
    const at = good.length - 24 - 8;
    const wrong = good.slice();
    wrong[at] = 5;
    expect(refusal(wrong)).toMatch(/storage "0" should hold 24 bytes, its head says 20/);
    wrong.set(u64(2n ** 62n), at);
    expect(refusal(wrong)).toMatch(/storage "0" should hold 24 bytes/);
    expect(refusal(good.subarray(0, good.length - 1))).toMatch(/and 23 are left/);
    expect(refusal(torchLegacy(pickle(dict(str('w'), tensor({ count: 1e9 })))))).toMatch(
      /larger than the file/,
    );
  });
});

describe('other machines and versions', () => {
  test('big-endian files', () => {
    const data = pickle(dict(str('w'), tensor()));
    const order = { byteorder: bytes('big'), 'data/0': floats(1, 2, 3, 4, 5, 6) };
    expect(refusal(torchZip(data, order))).toMatch(
      /saved on a big-endian machine \(its byteorder record says so\)/,
    );
    const legacy = bytes(MAGIC, pickle('M\xe9\x03'), pickle(dict(str('little_endian'), '\x89')));
    expect(refusal(legacy)).toMatch(/saved on a big-endian machine \(its head says so\)/);
  });

  test('another pickle, TorchScript, npz, another zip', () => {
    expect(refusal(pickle(dict()))).toMatch(/a Python pickle but not one of torch\.save/);
    expect(refusal(torchZip(pickle('N'), { 'constants.pkl': bytes('x') }))).toMatch(/TorchScript archive/);
    const zip = torchZip(pickle('N'));
    const renamed = Buffer.from(zip).toString('latin1').replaceAll('data.pkl', 'data.npy');
    expect(refusal(bytes(renamed))).toMatch(/a NumPy \.npz archive, not a PyTorch checkpoint/);
    expect(refusal(bytes(renamed.replaceAll('data.npy', 'data.txt')))).toMatch(
      /a zip archive without data\.pkl/,
    );
  });
});
