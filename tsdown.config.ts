import { defineConfig } from 'tsdown';

export default defineConfig({
  // Two entries in one build: the library and the CLI share their chunks, and each `import()` of a command stays a chunk
  // of its own, so that a start loads only what it uses.
  entry: { index: 'src/index.ts', 'cli/main': 'src/cli/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  dts: { entry: 'src/index.ts' },
  // Less text to compile at every start; names stay, for stack traces.
  minify: { compress: false, mangle: false, codegen: true },
  sourcemap: false,
  clean: true,
  report: false,
});
