// The layers of the program, and the one place where each heavy package may be used. Part of `npm run lint`.

/** A layer, and what it may import besides itself. Siblings on one step do not know each other. */
const layers = {
  errors: [],
  bytes: ['errors'],
  model: ['errors'],
  format: ['bytes', 'model', 'errors'],
  filesystem: ['errors'],
  storage: ['filesystem', 'format', 'model', 'bytes', 'errors'],
  checkpoint: ['storage', 'filesystem', 'format', 'model', 'bytes', 'errors'],
  operations: ['checkpoint', 'storage', 'filesystem', 'format', 'model', 'bytes', 'errors'],
  report: ['operations', 'checkpoint', 'storage', 'filesystem', 'format', 'model', 'bytes', 'errors'],
};

const inLayer = (name) => `^src/${name}(/|\\.ts$)`;
const inPackage = (...names) => `(^|/)node_modules/(@types/)?(${names.join('|')})(/|$)`;

const layerRules = Object.entries(layers).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: `src/${layer} may import only ${allowed.join(', ') || 'nothing'} of the program itself.`,
  severity: 'error',
  from: { path: inLayer(layer) },
  to: { path: '^src/', pathNot: [layer, ...allowed].map(inLayer) },
}));

const onlyIn = (packages, place) => ({
  name: `only-in-place-${packages.join('-')}`,
  comment: `${packages.join(', ')}: one place uses it, so that the rest neither pays for it nor depends on it.`,
  severity: 'error',
  from: { path: '^(src|bin)/', pathNot: place },
  to: { path: inPackage(...packages) },
});

export default {
  forbidden: [
    ...layerRules,
    {
      name: 'report-takes-only-types',
      comment: 'A report is made from results: above `model`, src/report may use types, not code.',
      severity: 'error',
      from: { path: '^src/report/' },
      to: { path: '^src/(operations|checkpoint|storage|filesystem|format)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'library-without-cli',
      comment: 'The library must not load the command line.',
      severity: 'error',
      from: { path: '^src/index\\.ts$' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'index-is-for-users',
      comment: 'Import the module itself: src/index.ts loads everything.',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { path: '^src/index\\.ts$' },
    },
    {
      name: 'start-loads-only-specs',
      comment: 'What every start loads must stay small: reach the work by `import()` when a command is chosen.',
      severity: 'error',
      from: { path: '^src/cli/(main|program|help|commands/(index|[^/]+\\.spec))\\.ts$' },
      to: {
        path: '^src/(report|operations|checkpoint|storage|filesystem|format|cli/commands/[^/.]+\\.ts$)',
        pathNot: '^src/cli/commands/index\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'pure-layers-do-no-io',
      comment: 'bytes, model and format touch no disk, network, clock or environment.',
      severity: 'error',
      from: { path: '^src/(bytes|model|format)/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto|util|zlib)$' },
    },
    onlyIn(['commander'], '^src/cli/(program|help)\\.ts$'),
    onlyIn(['ora'], '^src/cli/progress\\.ts$'),
    onlyIn(['chalk', 'cli-table3'], '^src/report/'),
    onlyIn(['fs-extra'], '^src/filesystem/local[^/]*\\.ts$'),
    onlyIn(['@aws-sdk', '@google-cloud', '@azure'], '^src/filesystem/'),
    {
      name: 'cloud-sdks-are-lazy',
      comment: 'A cloud SDK costs 90 ms and more: `await import()` it when its scheme is used.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: inPackage('@aws-sdk', '@google-cloud', '@azure'), dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      comment: 'Modules that need each other, even for types, are one module or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      // The start script imports the built CLI, which a fresh clone does not have yet.
      to: { couldNotResolve: true },
    },
    {
      name: 'only-declared-packages',
      comment: 'The shipped code may use only what package.json lists as a dependency.',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional', 'type-only'],
      },
    },
    {
      name: 'no-test-code',
      comment: 'The shipped code does not know its tests.',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { path: '^(test|bench|fixtures)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count as well: they are what makes layers and cycles.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
