#!/usr/bin/env node
// `--version` is answered before anything else is loaded: scripts ask for it, and it must cost no more than bare node.
import { existsSync, readFileSync } from 'node:fs';

const args = process.argv.slice(2);
const built = new URL('../dist/cli/main.js', import.meta.url);

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  process.stdout.write(`${version}\n`);
} else if (existsSync(built)) {
  const { main } = await import(built.href);
  await main(args);
} else {
  process.stderr.write('ckpt: dist/ is missing, this is a source tree that was never built: run `npm run build`\n');
  process.exitCode = 70;
}
