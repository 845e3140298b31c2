import { CkptError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type Argument, readArgument } from '../../operations/verify/targets.js';
import { type VerifyResult, verifyAll } from '../../operations/verify/verify-all.js';
import type { CheckpointVerification } from '../../operations/verify.js';
import { renderVerify, type VerifyDocument, type VerifyPointer } from '../../report/verify.js';
import type { Context } from '../context.js';
import { describeError, type ErrorBody } from '../error-report.js';
import { Exit, type ExitCode, exitCodeOf, highestExit } from '../exit-code.js';
import { locatePointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

interface Options extends LatestOptions {
  readonly deep?: true;
}

const SHOWN_WARNINGS = 20;

/** An argument that came to nothing. */
interface Failure {
  readonly given: string;
  readonly exit: ExitCode;
  readonly body: ErrorBody;
}

/** Runs `ckpt verify`. */
export const run: Run<Options> = async (context, args, options) => {
  const fileSystems = await context.fileSystems();
  const { found, failures } = await readArguments(context, fileSystems, args, options);
  const failed = failures.map(({ given, body }): VerifyPointer => failedPointer(given, body));
  if (context.jsonl) await context.stream.jsonLines(failed);
  const progress = context.progress('Verifying');
  const result = await verifyAll(fileSystems, found, {
    deep: options.deep,
    signal: context.signal,
    onProgress: ({ done, total, files, opened }) =>
      progress.update(done, total, `${files} files${opened > 0 ? `, ${opened} opened` : ''}`),
    ...(context.jsonl && { onResult: (pointer) => context.stream.jsonLine(documentPointer(pointer)) }),
  });
  progress.stop();
  warn(context, result);
  const unreadable = reportUnreadable(context, result, found);
  if (!context.jsonl) await context.emit(documentOf(result, failed, options), renderVerify);
  return highestExit([...failures.map(({ exit }) => exit), ...unreadable, result.ok ? Exit.Ok : Exit.No]);
};

/**
 * Finds out what each argument means.
 * @throws the error of the only argument; any error that is a bug, or an interruption
 */
async function readArguments(
  context: Context,
  fileSystems: FileSystems,
  args: readonly string[],
  options: Options,
): Promise<{ readonly found: readonly Argument[]; readonly failures: readonly Failure[] }> {
  const found: Argument[] = [];
  const failures: Failure[] = [];
  for (const given of args) {
    try {
      found.push(await readOne(context, fileSystems, given, options));
    } catch (error) {
      const isOurs = error instanceof CkptError && exitCodeOf(error) < Exit.Bug && exitCodeOf(error) !== Exit.Usage;
      if (!isOurs || args.length === 1) throw error;
      failures.push({ given, ...context.report(error, given) });
    }
  }
  return { found, failures };
}

async function readOne(context: Context, fileSystems: FileSystems, given: string, options: Options): Promise<Argument> {
  if (options.latest || options.job !== undefined) {
    const { directory, metadataPath } = await locatePointer(context, fileSystems, given, options);
    return { kind: 'pointer', target: { directory, metadataPath, root: null } };
  }
  const progress = context.progress('Finding checkpoints');
  const argument = await readArgument(fileSystems, given, {
    signal: context.signal,
    onFound: (count) => progress.update(count, 0),
  });
  progress.stop();
  return argument;
}

function warn(context: Context, { pointers, roots }: VerifyResult): void {
  const warnings = pointers.flatMap(({ pointer, warnings }) => warnings.map((warning) => `${pointer}: ${warning}`));
  for (const { root, vanished } of roots) {
    if (vanished.length > 0) {
      warnings.push(`${root}: ${vanished.length} of its checkpoints went away meanwhile, the first: ${vanished[0]}`);
    }
  }
  const shown = context.verbose ? warnings : warnings.slice(0, SHOWN_WARNINGS);
  for (const warning of shown) context.warn(warning);
  if (shown.length < warnings.length) context.warn(`${warnings.length - shown.length} more; --verbose tells all`);
}

/** Metadata that cannot be read: an exit code of its own for a pointer, a fault like others below a root. */
function reportUnreadable(context: Context, { pointers }: VerifyResult, args: readonly Argument[]): ExitCode[] {
  const given = new Set(args.flatMap((arg) => (arg.kind === 'pointer' ? [arg.target.metadataPath.toString()] : [])));
  const exits: ExitCode[] = [];
  for (const { pointer, metadataPath, error } of pointers) {
    if (error === null) continue;
    const { exit } = context.report(error, pointer);
    exits.push(given.has(metadataPath) ? exit : Exit.No);
  }
  return exits;
}

function documentPointer(verification: CheckpointVerification): VerifyPointer {
  return { ...verification, error: verification.error && describeError(verification.error) };
}

function failedPointer(given: string, error: ErrorBody): VerifyPointer {
  return {
    pointer: given,
    metadataPath: null,
    ok: false,
    files: 0,
    bytes: 0,
    unknownSizes: 0,
    mergedFiles: 0,
    opened: 0,
    warnings: [],
    error,
    faults: [],
  };
}

function documentOf(result: VerifyResult, failed: readonly VerifyPointer[], { deep }: Options): VerifyDocument {
  const pointers = [...failed, ...result.pointers.map(documentPointer)];
  const [first] = pointers;
  const nothingDone = result.roots.length === 0 && pointers.every(({ error }) => error !== null);
  return {
    ok: result.ok && failed.length === 0,
    deep: deep === true,
    pointers,
    roots: result.roots,
    brokenFiles: result.brokenFiles,
    moved: result.moved,
    ...(nothingDone && first?.error && { error: first.error }),
  };
}
