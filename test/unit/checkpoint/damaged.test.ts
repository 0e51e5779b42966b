import { describe, expect, test } from 'vitest';
import { pngBomb, readOrRefuse, SAMPLES } from './samples';

describe.each(Object.keys(SAMPLES))('%s', (name) => {
  const file = SAMPLES[name];
  const image = name.includes('.');

  test('is read whole', () => {
    expect(readOrRefuse(file, name)).toBe('read');
  });

  test('cut short at any byte is refused', () => {
    // What follows an image's end marker, the padding of a zip or a PNG's last checksum may be missing.
    const spare = name.endsWith('.jpg') ? 2 : 0;
    const read: number[] = [];
    for (let length = 0; length < file.length - spare; length++)
      if (readOrRefuse(file.subarray(0, length), name) === 'read') read.push(length);
    expect(read).toEqual([]);
  });

  test('with any one byte changed is read or refused', () => {
    const copy = file.slice();
    for (let at = 0; at < file.length; at++) {
      copy[at] = file[at] ^ (1 << (at % 8));
      readOrRefuse(copy, name);
      if (!image) {
        copy[at] = 0xff;
        readOrRefuse(copy, name);
      }
      copy[at] = file[at];
    }
  });
});

test('a PNG that unpacks to a thousand times its size is refused while it is counted', () => {
  expect(readOrRefuse(pngBomb(), 'bomb.png')).toBe('refused');
});
