import { configDefaults, defineConfig } from 'vitest/config';

// The tests under test/flink start real Flink (Java 17, Maven): a lane of its own in .ci/run. CKPT_FLINK_ALL=1 lets
// test/flink/moving.test.ts move the whole corpus, which takes hours.
// Those under test/servers start servers that come from package registries: CKPT_SERVERS=1.
const withServers = process.env.CKPT_SERVERS === '1';
const withFlink = process.env.CKPT_FLINK === '1' || process.env.CKPT_FLINK_ALL === '1';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...(withFlink ? [] : ['test/flink/**']),
      ...(withServers ? [] : ['test/servers/**']),
    ],
    // Many tests spawn the binary, and machines with two cores are common: a limit against hanging, not a measurement.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: '100%',
    reporters: ['default', './test/support/summary-reporter.ts'],
  },
});
