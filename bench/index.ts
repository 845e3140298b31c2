/** `npm run bench [-- NAME...]`: figures as ratios within one run. Names are those of the files beside this one. */

const benches: Readonly<Record<string, () => Promise<void>>> = {
  read: async () => (await import('./read.js')).readBench(),
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
