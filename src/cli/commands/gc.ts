import { readFile } from 'node:fs/promises';
import { UsageError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { Area } from '../../operations/area/area.js';
import { openDeletionLog } from '../../operations/discard/deletion-log.js';
import { refuseIfLocked, withLock } from '../../operations/discard/lock.js';
import { requireApart } from '../../operations/discard/plan.js';
import { move } from '../../operations/discard/removal.js';
import { sumUp } from '../../operations/gc/groups.js';
import {
  type GcSettings,
  parsePlan,
  requireSameFindings,
  type SavedGcPlan,
  serializePlan,
} from '../../operations/gc/plan-file.js';
import { type RemoveResult, removeGarbage } from '../../operations/gc/remove.js';
import { type GcProgress, type GcSearch, searchGarbage } from '../../operations/gc/search.js';
import { createOutput } from '../../operations/output-file.js';
import { type GcDocument, renderGc, renderGcPlan, renderGcResult } from '../../report/gc.js';
import { requireConfirmation } from '../confirm.js';
import type { Context } from '../context.js';
import { Exit, type ExitCode } from '../exit-code.js';
import { outputPath } from '../run-discard.js';
import type { DestructiveOptions, Run } from '../spec.js';
import { storeTime } from '../store-time.js';

/** What the options of `ckpt gc` parse to. */
interface GcOptions extends DestructiveOptions {
  readonly delete?: true;
  readonly moveTo?: string;
  readonly minAge: number;
  readonly usedBy: readonly string[];
  readonly changelogBase: readonly string[];
  readonly assumeDead: readonly string[];
  readonly workingDirectories?: true;
  readonly taskowned?: true;
  readonly emptyDirectories?: true;
  readonly breakLock?: true;
}

const SHOWN_WARNINGS = 10;

const titles: Readonly<Record<GcProgress['stage'], string>> = {
  listing: 'listing files',
  reading: 'reading metadata',
  'searching-state': 'searching operator state',
  sizing: 'looking at what is left',
};

/** Runs `ckpt gc`. */
export const run: Run<GcOptions> = async (context, roots, options) => {
  if (options.plan === undefined && roots.length === 0) throw new UsageError("missing required argument 'root'");
  const fileSystems = await context.fileSystems();
  const given = await settingsOf(context, fileSystems, roots, options);
  const saved = options.plan === undefined ? undefined : await loadPlan(options.plan);
  if (saved && roots.length > 0 && String(saved.settings.roots) !== String(given.roots)) {
    throw new UsageError('the plan is for other roots than those given');
  }
  // How it is to go may be said now; what is to go stands in the plan.
  const settings = saved ? { ...saved.settings, moveTo: given.moveTo ?? saved.settings.moveTo } : given;
  if (settings.moveTo) {
    const area = await Area.of(fileSystems, settings.roots, settings.aliases);
    await requireApart(fileSystems, area, settings.moveTo);
  }
  const job = new GcRun(context, fileSystems, options, settings, saved);
  const acts = options.delete || settings.moveTo !== undefined || saved !== undefined;
  if (!acts || options.dryRun) return job.dryRun();
  return options.yes ? job.locked(() => job.removeAtOnce()) : job.removeAfterQuestion();
};

async function settingsOf(
  context: Context,
  fileSystems: FileSystems,
  roots: readonly string[],
  options: GcOptions,
): Promise<GcSettings> {
  const path = (option: string) => (text: string) => outputPath(fileSystems, text, option);
  const rootPaths = roots.map(path('root'));
  const now = await storeTime(context, fileSystems, rootPaths);
  return {
    roots: rootPaths,
    usedBy: options.usedBy.map(path('--used-by')),
    changelogBases: options.changelogBase.map(path('--changelog-base')),
    assumeDead: options.assumeDead.map((pointer) => path('--assume-dead')(pointer).toString()),
    aliases: context.aliases,
    moveTo: options.moveTo === undefined ? undefined : path('--move-to')(options.moveTo),
    minAge: options.minAge,
    now: now(),
    workingDirectories: options.workingDirectories === true,
    taskOwned: options.taskowned === true,
    emptyDirectories: options.emptyDirectories === true,
  };
}

async function loadPlan(file: string): Promise<SavedGcPlan> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--plan: ${file} cannot be read`, { path: file }, { cause: error });
  }
  return parsePlan(text, file);
}

class GcRun {
  constructor(
    private readonly context: Context,
    private readonly fileSystems: FileSystems,
    private readonly options: GcOptions,
    private readonly settings: GcSettings,
    private readonly saved: SavedGcPlan | undefined,
  ) {}

  async dryRun(): Promise<ExitCode> {
    return this.tell(await this.search(), undefined);
  }

  /** Nobody is asked, so the lock is held from the first look on. */
  async removeAtOnce(): Promise<ExitCode> {
    const search = await this.search();
    if (!hasWork(search)) return this.tell(search, undefined);
    if (!this.isForMachine) await this.context.preview(this.documentOf(search, undefined), renderGcPlan);
    return this.remove(search);
  }

  /** The lock is not held while somebody thinks. What has come into use meanwhile stays. */
  async removeAfterQuestion(): Promise<ExitCode> {
    const search = await this.search();
    if (!hasWork(search)) return this.tell(search, undefined);
    await this.context.preview(this.documentOf(search, undefined), renderGcPlan);
    const { length } = search.findings.unreferenced;
    const what = length === 1 ? 'this file' : `these ${length} files`;
    const verb = this.settings.moveTo === undefined ? 'Delete' : 'Move';
    await requireConfirmation(this.context, `${verb} ${what}?`, this.options);
    return this.locked(() => this.remove(search));
  }

  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.fileSystems, this.settings.roots, this.lockOptions, work);
  }

  private get lockOptions() {
    return {
      command: 'gc',
      ifHeld: this.options.breakLock ? ('break' as const) : ('refuse' as const),
      warn: (message: string) => this.context.warn(message),
    };
  }

  private get isForMachine(): boolean {
    return this.context.json || this.context.jsonl;
  }

  private async search(): Promise<GcSearch> {
    const { context, settings, saved } = this;
    const progress = context.progress('Searching');
    try {
      const search = await searchGarbage(this.fileSystems, {
        ...settings,
        // A plan is as old as it is: what was young when it was made still is.
        now: saved ? () => settings.now : await storeTime(context, this.fileSystems, settings.roots),
        signal: context.signal,
        onProgress: ({ stage, done, total }) => progress.update(done, total, titles[stage]),
      });
      const { warnings } = search.findings;
      for (const warning of context.verbose ? warnings : warnings.slice(0, SHOWN_WARNINGS)) context.warn(warning);
      if (!context.verbose && warnings.length > SHOWN_WARNINGS) {
        context.warn(`${warnings.length - SHOWN_WARNINGS} more warnings (--verbose shows all)`);
      }
      if (saved) requireSameFindings(search, saved.fingerprint);
      await this.savePlan(search);
      return search;
    } finally {
      progress.stop();
    }
  }

  private async remove(search: GcSearch): Promise<ExitCode> {
    const { context, fileSystems, settings } = this;
    for (const directory of search.book.inventory.locked) {
      await refuseIfLocked(fileSystems, directory, this.lockOptions);
    }
    const log = this.options.log === undefined ? undefined : openDeletionLog(this.options.log);
    const progress = context.progress(settings.moveTo ? 'Moving files' : 'Deleting files');
    try {
      const result = await removeGarbage(fileSystems, search, {
        ...(settings.moveTo && { removal: move(fileSystems, settings.roots, settings.moveTo) }),
        log,
        signal: context.signal,
        onProgress: (done, total) => progress.update(done, total),
      });
      progress.stop();
      const exit = await this.tell(search, result);
      if (result.interrupted) context.signal.throwIfAborted();
      return exit;
    } finally {
      progress.stop();
      log?.close();
    }
  }

  private async tell(search: GcSearch, result: RemoveResult | undefined): Promise<ExitCode> {
    const document = this.documentOf(search, result);
    if (this.context.jsonl) await this.context.stream.jsonLines(linesOf(document));
    else await this.context.emit(document, result === undefined || this.context.json ? renderGc : renderGcResult);
    if (document.blocked.length > 0 && document.deletedFiles === 0) return Exit.Refused;
    return document.blocked.length > 0 || document.failed.length > 0 ? Exit.No : Exit.Ok;
  }

  private documentOf({ findings }: GcSearch, result: RemoveResult | undefined): GcDocument {
    const { unreferenced } = findings;
    return {
      roots: findings.roots.map(String),
      unreferenced,
      totals: { files: unreferenced.length, bytes: unreferenced.reduce((sum, { bytes }) => sum + bytes, 0) },
      groups: sumUp(unreferenced),
      spared: [...findings.spared, ...(result?.spared ?? [])],
      taskowned: findings.taskOwned,
      blocked: [...findings.blocked, ...(result?.blocked ?? [])],
      emptyDirectories: findings.emptyDirectories.map(String),
      files: findings.files,
      checkpoints: findings.checkpoints,
      dryRun: result === undefined,
      interrupted: result?.interrupted ?? false,
      deletedFiles: result?.deletedFiles ?? 0,
      deletedBytes: result?.deletedBytes ?? 0,
      deletedDirectories: result?.deletedDirectories ?? 0,
      alreadyGone: result?.alreadyGone ?? 0,
      failed: result?.failed ?? [],
      movedTo: result === undefined ? null : (this.settings.moveTo?.toString() ?? null),
    };
  }

  private async savePlan(search: GcSearch): Promise<void> {
    const { planOut } = this.options;
    if (planOut === undefined) return;
    const writer = await createOutput(this.fileSystems, outputPath(this.fileSystems, planOut, '--plan-out'));
    try {
      const encoder = new TextEncoder();
      let text = '';
      for (const piece of serializePlan(this.settings, search)) {
        text += piece;
        if (text.length < 64 * 1024) continue;
        await writer.write(encoder.encode(text));
        text = '';
      }
      await writer.write(encoder.encode(text));
      await writer.commit();
    } finally {
      await writer.abort();
    }
  }
}

function hasWork({ findings }: GcSearch): boolean {
  return findings.blocked.length === 0 && findings.unreferenced.length + findings.emptyDirectories.length > 0;
}

/** A line for each thing that the document lists, and one for the rest. */
function* linesOf(document: GcDocument): Generator<object> {
  const { unreferenced, spared, taskowned, blocked, failed, emptyDirectories, groups: _, ...rest } = document;
  for (const entry of unreferenced) yield { record: 'unreferenced', ...entry.toJSON() };
  for (const entry of taskowned) yield { record: 'taskowned', ...entry };
  for (const entry of spared) yield { record: 'spared', ...entry };
  for (const path of emptyDirectories) yield { record: 'empty-directory', path };
  for (const entry of blocked) yield { record: 'blocked', ...entry };
  for (const entry of failed) yield { record: 'failed', ...entry };
  yield { record: 'summary', ...rest };
}
