import { describe, expect, it } from 'vitest';
import { followTensor, pinKey } from '../../../webview/tensors/identity';
import { entryOf } from './samples';

describe('a viewer', () => {
  const open = { id: 'v1', name: 'delta', role: 'scan' as const };
  const next = entryOf('delta', { id: 'v9' });
  const same = entryOf('x', { id: 'v1', role: 'local' });

  it('follows a tensor from stop to stop by what it is', () => {
    expect(followTensor([same, next], open, 'site')).toBe(next);
    expect(followTensor([same], open, 'site')).toBe(same);
    expect(followTensor([], open, 'site')).toBeUndefined();
  });

  it('keeps to the one tensor in a whole run', () => {
    expect(followTensor([next, same], open, 'run')).toBe(same);
    expect(followTensor([next], open, 'run')).toBeUndefined();
  });
});

it('a pin means the role and name at a site, the tensor itself in a run', () => {
  const entry = entryOf('delta', { id: 'v9' });
  expect(pinKey(entry, 'site')).toBe('scan delta');
  expect(pinKey(entry, 'run')).toBe('v9');
});
