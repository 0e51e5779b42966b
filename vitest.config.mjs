import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          name: 'simd',
          include: [
            'golden',
            'backward/{golden,derive,recurrence,origin}',
            'models/mambaLm*',
            'engine/*',
          ].map((name) => `test/unit/${name}.test.ts`),
          setupFiles: ['test/setup/simd.ts'],
          testTimeout: 60_000,
        },
      },
      { test: { name: 'dap', include: ['test/dap/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'cli', include: ['test/cli/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          name: 'proxy',
          sequence: { groupOrder: 1 },
          include: ['test/proxy/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 900_000,
          maxWorkers: 4, // a test mostly waits for Python to start and to end
        },
      },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'examples', include: ['test/examples/**/*.test.ts'], testTimeout: 600_000 } },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 }, // alone on the machine, as a window is
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 900_000,
          retry: 1, // a window that swallowed a key is opened anew
          fileParallelism: false,
        },
      },
    ],
  },
});
