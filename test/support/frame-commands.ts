// A program on the frame of ckpt, with commands that do what real ones seldom do. Run it with tsx.
import { setTimeout as sleep } from 'node:timers/promises';
import { requireConfirmation } from '../../src/cli/confirm.js';
import { Exit, highestExit } from '../../src/cli/exit-code.js';
import { main } from '../../src/cli/main.js';
import type { CommandSpec, DestructiveOptions, Run } from '../../src/cli/spec.js';
import { IoError, NotFoundError } from '../../src/errors.js';

function command(name: string, run: Run<never>, more: Partial<CommandSpec> = {}): CommandSpec {
  return { name, group: 'Other', summary: name, exits: [Exit.Ok], load: async () => ({ run }), ...more };
}

const ask: Run<DestructiveOptions> = async (context, _args, options) => {
  await context.preview(['a', 'b'], (files) => `deletes ${files.join(', ')}\n`);
  await requireConfirmation(context, 'Delete 2 files?', options);
  await context.emit({ deletedFiles: 2 }, ({ deletedFiles }) => `deleted ${deletedFiles} files\n`);
  return Exit.Ok;
};

/** Works until it is interrupted, then needs a moment to come to a safe point. */
const work: Run = async (context) => {
  const progress = context.progress('Working');
  const stopped = new Promise<void>((resolve) => {
    context.signal.addEventListener('abort', () => resolve());
  });
  for (let step = 1; !context.signal.aborted; step++) {
    progress.update(step, 4000, 'shared/a');
    if (step === 1) context.info('started');
    await Promise.race([stopped, sleep(20)]);
  }
  context.info('stopping');
  await sleep(context.verbose ? 60_000 : 1);
  await context.emit({ done: true }, () => 'stopped at a safe point\n');
  return Exit.Ok;
};

/** Works long enough for a line of progress to appear, then ends by itself. */
const brief: Run = async (context) => {
  const progress = context.progress('Working');
  progress.update(1, 2);
  await sleep(1500);
  await context.emit(1, () => '1\n');
  return Exit.Ok;
};

const pointers: Run = async (context, args) => {
  const results = args.map((pointer) => {
    if (pointer.startsWith('ok')) return { pointer, exit: Exit.Ok, error: null };
    const failure = pointer.startsWith('io')
      ? new IoError('file:/io', 'reading')
      : new NotFoundError(`file:/${pointer}`);
    const { exit, body } = context.report(failure, pointer);
    return { pointer, exit, error: body };
  });
  await context.emit({ pointers: results }, () => `${results.length} pointers\n`);
  return highestExit(results.map(({ exit }) => exit));
};

const numbers: Run = async (context) => {
  for (let number = 0; ; number++) await context.stream.jsonLine({ number });
};

const half: Run = async (context) => {
  await context.stream.write('{"first": 1,');
  throw new IoError('file:/x', 'reading');
};

const verdict: Run = async (context) => {
  await context.emit(null, () => Array.from({ length: 50_000 }, (_, fault) => `fault ${fault}\n`));
  return Exit.No;
};

await main(process.argv.slice(2), [
  command('ask', ask, { destructive: true }),
  command('work', work),
  command('brief', brief),
  command('pointers', pointers, { args: '<pointer...>' }),
  command(
    'missing',
    async () => {
      throw new NotFoundError('file:/elsewhere');
    },
    { args: '<pointer>' },
  ),
  command('numbers', numbers, { jsonl: true }),
  command('half', half),
  command('verdict', verdict),
  command('bug', async () => {
    throw new TypeError('oops');
  }),
  command('late-bug', async () => {
    setTimeout(() => {
      throw new TypeError('late oops');
    }, 1);
    await sleep(60_000);
    return Exit.Ok;
  }),
  command('rejected', async () => {
    void Promise.reject(new TypeError('nobody waits'));
    await sleep(60_000);
    return Exit.Ok;
  }),
]);
