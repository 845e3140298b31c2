/** The one path of commands that discard checkpoints: plan, show, ask, lock, look again, act. */
import { readFile } from 'node:fs/promises';
import { CkptError, InvalidPathError, UsageError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { type DeletionLog, openDeletionLog } from '../operations/discard/deletion-log.js';
import { executePlan } from '../operations/discard/execute.js';
import { type LockOptions, refuseIfLocked, withLock } from '../operations/discard/lock.js';
import { type PlanOptions, planDiscard } from '../operations/discard/plan.js';
import {
  fingerprintOf,
  parsePlan,
  pointerOf,
  requireSamePlan,
  type SavedPlan,
  serializePlan,
} from '../operations/discard/plan-file.js';
import { move } from '../operations/discard/removal.js';
import {
  type DiscardTargets,
  isStatus,
  presentMetadata,
  resolveTargets,
  type TargetOptions,
} from '../operations/discard/targets.js';
import type { DiscardPlan, DiscardResult } from '../operations/discard/types.js';
import { createOutput } from '../operations/output-file.js';
import { type DiscardDocument, renderDiscardResult, renderPlan, renderWholePlan } from '../report/discard.js';
import { requireConfirmation } from './confirm.js';
import type { Context } from './context.js';
import type { ErrorBody } from './error-report.js';
import { Exit, type ExitCode, highestExit } from './exit-code.js';
import type { DestructiveOptions } from './spec.js';
import { storeTime } from './store-time.js';

/** What is to be discarded, and how. */
export interface DiscardRun {
  /** The command, as plans and locks name it. */
  readonly command: string;
  /** As the user wrote them; with `--plan` none, or those of the plan. */
  readonly pointers: readonly string[];
  readonly targets: Omit<TargetOptions, 'signal' | 'aliases'>;
  readonly plan: Omit<PlanOptions, 'signal' | 'onProgress' | 'now'>;
  readonly options: DestructiveOptions & { readonly breakLock?: true };
  /** Called under the lock, before anything is changed; what it throws stops everything. */
  readonly beforeExecution?: (() => Promise<void>) | undefined;
  /** Further fields of the document. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Discards checkpoints.
 * @returns the exit code
 * @throws what stops everything before anything was changed; the signal's reason after an interruption was told of
 */
export async function runDiscard(context: Context, run: DiscardRun): Promise<ExitCode> {
  const fileSystems = await context.fileSystems();
  const { options } = run;
  const saved = options.plan === undefined ? undefined : await loadPlan(options.plan, run.command);
  const job = new DiscardJob(context, fileSystems, run, saved);
  const targets = await job.resolve();
  if (options.dryRun) return job.dryRun(targets);
  return options.yes ? job.runAtOnce(targets) : job.runAfterQuestion(targets);
}

class DiscardJob {
  private now = 0;

  constructor(
    private readonly context: Context,
    private readonly fileSystems: FileSystems,
    private readonly run: DiscardRun,
    private readonly saved: SavedPlan | undefined,
  ) {}

  async resolve(): Promise<DiscardTargets> {
    const { saved, run, context } = this;
    const aliases = saved?.settings.aliases ?? context.aliases;
    const options = { ...run.targets, ...(saved && { roots: saved.settings.roots }), aliases, signal: context.signal };
    const targets = await resolveTargets(this.fileSystems, saved?.pointers ?? run.pointers, options);
    if (saved && run.pointers.length > 0) {
      const given = await resolveTargets(this.fileSystems, run.pointers, options);
      const names = (list: DiscardTargets): string => JSON.stringify(list.targets.map(pointerOf).sort());
      if (names(given) !== names(targets)) throw new UsageError('the plan is for other checkpoints than those given');
    }
    this.now = saved?.settings.now ?? (await storeTime(context, this.fileSystems, targets.area.roots))();
    return targets;
  }

  async dryRun(targets: DiscardTargets): Promise<ExitCode> {
    const plan = await this.plan(targets);
    if (this.saved) await requireSamePlan(this.fileSystems, plan, this.saved.fingerprint);
    await this.savePlan(plan);
    return this.tell(plan, undefined);
  }

  /** The lock is taken only when there is something to do: what is refused must leave no trace. */
  async runAtOnce(targets: DiscardTargets): Promise<ExitCode> {
    const first = await this.plan(targets);
    if (this.saved) await requireSamePlan(this.fileSystems, first, this.saved.fingerprint);
    await this.savePlan(first);
    if (first.targets.length === 0) return this.tell(first, undefined);
    return this.locked(targets, async () => {
      const plan = (await isStillThere(this.fileSystems, first)) ? first : await this.planAnew();
      await this.requireNoLocksBelow(plan);
      if (!this.context.json) await this.context.preview(this.document(plan, undefined, []), renderPlan);
      return this.execute(plan);
    });
  }

  /** Another run was quicker. */
  private async planAnew(): Promise<DiscardPlan> {
    const plan = await this.plan(await this.resolve());
    if (this.saved) await requireSamePlan(this.fileSystems, plan, this.saved.fingerprint);
    return plan;
  }

  /** The lock is not held while somebody thinks; what was shown must still be true afterwards. */
  async runAfterQuestion(targets: DiscardTargets): Promise<ExitCode> {
    const shown = await this.plan(targets);
    const fingerprint = this.saved?.fingerprint ?? (await fingerprintOf(this.fileSystems, shown));
    if (this.saved) await requireSamePlan(this.fileSystems, shown, fingerprint);
    await this.savePlan(shown);
    if (shown.targets.length === 0) return this.tell(shown, undefined);
    await this.context.preview(this.document(shown, undefined, []), renderPlan);
    const count = shown.targets.length;
    const what = count === 1 ? 'this checkpoint' : `these ${count} checkpoints`;
    await requireConfirmation(this.context, `Discard ${what}?`, this.run.options);
    return this.locked(targets, async () => {
      const plan = await this.plan(await this.resolve());
      await this.requireNoLocksBelow(plan);
      const failed = new Set(shown.failed.map(({ given }) => given));
      const same = { ...plan, failed: plan.failed.filter(({ given }) => !failed.has(given)) };
      await requireSamePlan(this.fileSystems, same, fingerprint);
      return this.execute(plan);
    });
  }

  private async plan(targets: DiscardTargets): Promise<DiscardPlan> {
    const { saved, run, context } = this;
    const progress = context.progress('Looking for other users of the files');
    try {
      const plan = await planDiscard(this.fileSystems, targets, {
        ...(saved?.settings ?? run.plan),
        now: this.now,
        signal: context.signal,
        onProgress: (done, total) => progress.update(done, total),
      });
      const [failure] = plan.failed;
      // Of the only pointer the error is all there is to tell.
      if (failure && plan.targets.length === 0 && plan.failed.length === 1) throw failure.error;
      return plan;
    } finally {
      progress.stop();
    }
  }

  private async execute(plan: DiscardPlan): Promise<ExitCode> {
    const { context, fileSystems } = this;
    await this.run.beforeExecution?.();
    const log = this.openLog();
    const progress = context.progress('Discarding');
    const { moveTo } = this;
    try {
      const result = await executePlan(fileSystems, plan, {
        signal: context.signal,
        log,
        ...(moveTo && { removal: move(fileSystems, plan.roots, moveTo) }),
        onProgress: (done, total) => progress.update(done, total),
      });
      progress.stop();
      const exit = await this.tell(plan, result);
      if (result.interrupted) context.signal.throwIfAborted();
      return exit;
    } finally {
      progress.stop();
      log?.close();
    }
  }

  /** Emits the document and gives the exit code. */
  private async tell(plan: DiscardPlan, result: DiscardResult | undefined): Promise<ExitCode> {
    const reports = plan.failed.map(({ given, error }) => ({ given, ...this.context.report(error, given) }));
    const isShown = result !== undefined && !this.context.json;
    await this.context.emit(this.document(plan, result, reports), isShown ? renderDiscardResult : renderWholePlan);
    const own = result && result.failures.length > 0 ? Exit.No : Exit.Ok;
    return highestExit([own, ...reports.map(({ exit }) => exit)]);
  }

  private document(
    plan: DiscardPlan,
    result: DiscardResult | undefined,
    reports: readonly { readonly given: string; readonly body: ErrorBody }[],
  ): DiscardDocument {
    const [error, ...suppressed] = (result?.failures ?? []).map(({ path, message }) => ({ path, message }));
    return {
      pointers: [
        ...plan.targets.map(({ target }) => ({ pointer: target.directory.toString(), error: null })),
        ...reports.map(({ given, body }) => ({ pointer: this.nameOf(given), error: body })),
      ],
      plan: { delete: plan.delete, keep: plan.keep },
      done: result?.done ?? false,
      dryRun: result === undefined,
      interrupted: result?.interrupted ?? false,
      deletedFiles: result?.deletedFiles ?? 0,
      deletedBytes: result?.deletedBytes ?? 0,
      alreadyGone: result?.alreadyGone ?? plan.alreadyGone,
      strayEntries: result?.strayEntries ?? plan.strayEntries,
      error: error ?? null,
      suppressed,
      movedTo: this.moveTo?.toString() ?? null,
      search: plan.search,
      ...this.run.more,
    };
  }

  private get moveTo(): Path | undefined {
    return this.saved ? this.saved.settings.moveTo : this.run.plan.moveTo;
  }

  private nameOf(given: string): string {
    try {
      return this.fileSystems.nameOf(Path.parse(given)).toString();
    } catch (error) {
      if (error instanceof CkptError) return given;
      throw error;
    }
  }

  private locked<T>(targets: DiscardTargets, work: () => Promise<T>): Promise<T> {
    const pointers = targets.targets.map(({ directory }) => directory.toString());
    if (pointers.length === 0) return work();
    return withLock(this.fileSystems, targets.area.roots, { ...this.lockOptions, pointers }, work);
  }

  private async requireNoLocksBelow(plan: DiscardPlan): Promise<void> {
    for (const directory of plan.locks) await refuseIfLocked(this.fileSystems, directory, this.lockOptions);
  }

  private get lockOptions(): LockOptions {
    return {
      command: this.run.command,
      ifHeld: this.run.options.breakLock ? 'break' : 'refuse',
      warn: (message) => this.context.warn(message),
    };
  }

  private async savePlan(plan: DiscardPlan): Promise<void> {
    const { planOut } = this.run.options;
    if (planOut === undefined) return;
    const { fileSystems, run } = this;
    const text = serializePlan(
      {
        command: run.command,
        pointers: plan.targets.map(({ target }) => pointerOf(target)),
        fingerprint: await fingerprintOf(fileSystems, plan),
        settings: {
          ...(this.saved?.settings ?? run.plan),
          roots: plan.roots,
          aliases: this.context.aliases,
          moveTo: this.moveTo,
          now: this.now,
        },
      },
      plan,
    );
    const writer = await createOutput(fileSystems, outputPath(fileSystems, planOut, '--plan-out'));
    try {
      await writer.write(new TextEncoder().encode(text));
      await writer.commit();
    } finally {
      await writer.abort();
    }
  }

  private openLog(): DeletionLog | undefined {
    const { log } = this.run.options;
    return log === undefined ? undefined : openDeletionLog(log);
  }
}

/** True if the metadata of every checkpoint is as it was when the plan was made. */
async function isStillThere(fileSystems: FileSystems, plan: DiscardPlan): Promise<boolean> {
  for (const { target, metadata } of plan.targets) {
    const path = presentMetadata(target);
    if (path === undefined) continue;
    const [status] = await (await fileSystems.get(path)).getFileStatuses(target.directory, [path.name]);
    if (!isStatus(status) || status.size !== metadata?.size) return false;
    if (status.modificationTime !== metadata.modificationTime) return false;
  }
  return true;
}

async function loadPlan(file: string, command: string): Promise<SavedPlan> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--plan: ${file} cannot be read`, { path: file }, { cause: error });
  }
  return parsePlan(text, file, command);
}

/**
 * What an option names, qualified.
 * @throws UsageError if it is no path
 */
export function outputPath(fileSystems: FileSystems, text: string, option: string): Path {
  try {
    return fileSystems.nameOf(Path.parse(text));
  } catch (error) {
    if (error instanceof InvalidPathError) throw new UsageError(`${option}: ${error.message}`, error.data);
    throw error;
  }
}
