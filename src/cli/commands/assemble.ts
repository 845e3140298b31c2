import { readChunks } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import { type AssembleResult, assembleMetadata } from '../../operations/assemble.js';
import { createOutput } from '../../operations/output-file.js';
import { renderAssembled } from '../../report/assemble.js';
import type { Context } from '../context.js';
import { Exit } from '../exit-code.js';
import { outputPath } from '../output-path.js';
import type { Run } from '../spec.js';

interface Options {
  readonly out: string;
  readonly overwrite?: true;
}

/** Runs `ckpt assemble`. */
export const run: Run<Options> = async (context, [file = ''], options) => {
  const fileSystems = await context.fileSystems();
  const target = outputPath(fileSystems, options.out);
  const writer = await createOutput(fileSystems, target, { overwrite: options.overwrite === true });
  let result: AssembleResult;
  try {
    result = await assembleMetadata(document(context, file), writer);
    context.signal.throwIfAborted();
    await writer.commit();
  } finally {
    await writer.abort();
  }
  await context.emit({ target: target.toString(), ...result }, renderAssembled);
  return Exit.Ok;
};

async function* document(context: Context, file: string): AsyncGenerator<Uint8Array, void, void> {
  if (file === '-') {
    yield* context.stdin();
    return;
  }
  const fileSystems = await context.fileSystems();
  const path = fileSystems.qualify(Path.parse(file));
  const source = await (await fileSystems.get(path)).open(path);
  try {
    yield* readChunks(source, { signal: context.signal });
  } finally {
    await source.close();
  }
}
