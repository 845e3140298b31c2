// Loaded into a measured process: says at its end how much memory it took at most.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const file = process.env.CKPT_BENCH_USAGE;
  if (file) writeFileSync(file, JSON.stringify({ maxRss: process.resourceUsage().maxRSS * 1024 }));
});
