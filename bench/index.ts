/** `npm run bench [-- NAME...]`: figures as ratios within one run. Names are those of the files beside this one. */

const benches: Readonly<Record<string, () => Promise<void>>> = {
  list: async () => (await import('./list.js')).listBench(),
  read: async () => (await import('./read.js')).readBench(),
  copy: async () => (await import('./copy.js')).copyBench(),
  gc: async () => (await import('./gc.js')).gcBench(),
  discard: async () => (await import('./discard.js')).discardBench(),
  s3: async () => (await import('./s3.js')).s3Bench(),
  sst: async () => (await import('./sst.js')).sstBench(),
  state: async () => (await import('./state.js')).stateBench(),
};

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(benches)) {
  const bench = benches[name];
  if (!bench) {
    console.error(`no bench "${name}"; there are ${Object.keys(benches).join(', ')}`);
    process.exitCode = 2;
    break;
  }
  console.log(`\n${name}`);
  await bench();
}
