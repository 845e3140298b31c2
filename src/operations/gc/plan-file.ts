/** Plans in files: what is shown today is carried out tomorrow, or nothing is. */
import { createHash } from 'node:crypto';
import { RefusedError, UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { GcSearch, GcSearchOptions } from './search.js';

const FORMAT = 'ckpt-plan';
const FORMAT_VERSION = 1;
const COMMAND = 'gc';

/** What a plan was made with, as far as it decides what is in it. */
export interface GcSettings
  extends Pick<GcSearchOptions, 'minAge' | 'workingDirectories' | 'taskOwned' | 'emptyDirectories'> {
  readonly roots: readonly Path[];
  readonly usedBy: readonly Path[];
  readonly changelogBases: readonly Path[];
  readonly aliases: readonly (readonly string[])[];
  readonly assumeDead: readonly string[];
  readonly moveTo: Path | undefined;
  /** What counted as now, ms since the epoch. */
  readonly now: number;
}

/** A saved plan. */
export interface SavedGcPlan {
  readonly settings: GcSettings;
  readonly fingerprint: string;
}

/**
 * A digest of what a search has found and of all metadata that it has read, by names, sizes and times: equal for two
 * searches of which the second may be carried out in place of the first.
 */
export function fingerprintOf({ findings, snapshot }: GcSearch): string {
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${JSON.stringify(value)}\n`);
  const metadata = [...snapshot.reports.values()].flatMap(({ directory, metadata: state, users }) =>
    users.length === 0
      ? []
      : [[directory.toString(), state, ...users.map((user) => user.metadataPath.toString()).sort()]],
  );
  metadata.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
  for (const line of metadata) add(line);
  for (const entry of findings.unreferenced) add(entry);
  add(findings.emptyDirectories);
  add(findings.blocked.map(({ path, reason }) => [path, reason]));
  return hash.digest('hex');
}

/**
 * Refuses to go on with a plan that is not the one that was seen.
 * @throws RefusedError
 */
export function requireSameFindings(search: GcSearch, fingerprint: string): void {
  if (fingerprintOf(search) === fingerprint) return;
  throw new RefusedError('the files have changed since the plan was made; make a new one, nothing was changed', {
    reason: 'changed',
  });
}

/** The text of a plan file, in pieces. */
export function* serializePlan(settings: GcSettings, search: GcSearch): Generator<string, void, undefined> {
  const head = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    command: COMMAND,
    made: new Date(settings.now).toISOString(),
    settings,
    fingerprint: fingerprintOf(search),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"plan":{"delete":[`;
  let separator = '';
  for (const entry of search.findings.unreferenced) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ',';
  }
  yield `],"directories":${JSON.stringify(search.findings.emptyDirectories)}}}\n`;
}

/**
 * Reads the text of a plan file. What goes is not taken from it: it is searched anew and must come out the same.
 * @throws UsageError if it is none, or one of another command
 */
export function parsePlan(text: string, location: string): SavedGcPlan {
  const wrong = (reason: string): never => {
    throw new UsageError(`${location}: not a plan of ckpt ${COMMAND}: ${reason}`, { path: location });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wrong('it is no JSON');
  }
  if (!isRecord(value) || value.format !== FORMAT) return wrong('it says nothing of being one');
  if (value.formatVersion !== FORMAT_VERSION) return wrong(`version ${value.formatVersion} is not known`);
  if (value.command !== COMMAND) return wrong(`it was made by ckpt ${value.command}`);
  const { settings, fingerprint } = value;
  if (typeof fingerprint !== 'string' || !isRecord(settings)) return wrong('fields are missing');
  const { roots, usedBy, changelogBases, assumeDead, aliases, moveTo, minAge, now } = settings;
  const isWhole = isTexts(roots) && isTexts(usedBy) && isTexts(changelogBases) && isTexts(assumeDead);
  if (!isWhole || typeof minAge !== 'number' || typeof now !== 'number') return wrong('fields are missing');
  return {
    fingerprint,
    settings: {
      roots: roots.map((path) => Path.parse(path)),
      usedBy: usedBy.map((path) => Path.parse(path)),
      changelogBases: changelogBases.map((path) => Path.parse(path)),
      aliases: Array.isArray(aliases) ? aliases.filter(isTexts) : [],
      assumeDead,
      moveTo: typeof moveTo === 'string' ? Path.parse(moveTo) : undefined,
      minAge,
      now,
      workingDirectories: settings.workingDirectories === true,
      taskOwned: settings.taskOwned === true,
      emptyDirectories: settings.emptyDirectories === true,
    },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
