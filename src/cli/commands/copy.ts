import { Path } from '../../filesystem/path.js';
import { checkTarget, copyCheckpoint, planCopy } from '../../operations/copy/copy.js';
import { renderCopied, renderCopyPlan } from '../../report/copy.js';
import { verifyChange } from '../change.js';
import { Exit } from '../exit-code.js';
import { locatePointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';
import { storeTime } from '../store-time.js';

interface Options extends LatestOptions {
  readonly dryRun?: true;
  readonly verify?: true;
  readonly checksum?: true;
  readonly fsync?: true;
}

/** Runs `ckpt copy`. */
export const run: Run<Options> = async (context, [given = '', to = ''], options) => {
  const fileSystems = await context.fileSystems();
  const pointer = await locatePointer(context, fileSystems, given, options);
  const target = fileSystems.qualify(Path.parse(to));
  const { signal } = context;
  if (options.dryRun) {
    await checkTarget(fileSystems, pointer, target);
    const { plan, found } = await planCopy(fileSystems, pointer, target, { signal });
    const files = plan.files.map(({ source, start, length, recorded, name }) => ({
      path: source.toString(),
      target: target.entry(name).toString(),
      start,
      bytes: length ?? recorded ?? null,
    }));
    const document = { source: pointer.directory.toString(), target: target.toString(), copy: files, ...found };
    await context.emit(document, renderCopyPlan);
    return Exit.Ok;
  }
  const progress = context.progress('Copying');
  const result = await copyCheckpoint(fileSystems, pointer, target, {
    signal,
    fsync: options.fsync,
    checksum: options.checksum,
    now: await storeTime(context, fileSystems, [target]),
    onFile: ({ files, bytes, total }) => progress.update(files, total, `${Math.round(bytes / 1e6)} MB`),
  });
  progress.stop();
  const { document, exit } = await verifyChange(context, fileSystems, result, target, options);
  await context.emit(document, renderCopied);
  return exit;
};
