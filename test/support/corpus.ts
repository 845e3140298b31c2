import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { corpusDirectory, fixturesDirectory } from './paths.js';

/** A checkpoint or savepoint that a real Flink left, and what that Flink read of it. */
export interface CorpusPointer {
  /** Names it in test titles. */
  readonly label: string;
  readonly case: CorpusCase;
  /** Where its directory is now, absolute. */
  readonly directory: string;
  readonly metadataFile: string;
  /** Where Flink had it: qualified, as the oracle prints it. */
  readonly externalPointer: string;
  /** JSON of what Flink's loader reads; undefined for what only Flink 1.11 reads. */
  readonly oracleFile: string | undefined;
  /** JSON of the channel state that Flink 1.11 reads; undefined for all others. */
  readonly channelsFile: string | undefined;
  readonly metadataVersion: number;
  readonly checkpointId: number;
  readonly kind: 'checkpoint' | 'savepoint';
}

/** A run of a job: its directory tree, its pointers. */
export interface CorpusCase {
  /** E.g. `fixtures/flink-2.3.0/unaligned`. */
  readonly label: string;
  readonly directory: string;
  readonly flinkVersion: string;
  /** What the metadata calls `uri` lies in `directory`. */
  readonly mapping: { readonly uri: string; readonly directory: string };
  readonly pointers: readonly CorpusPointer[];
}

interface PointerJson {
  readonly pointer: string;
  readonly uri?: string;
  readonly oracle?: string;
  readonly channels?: string;
  readonly metadataVersion: number;
  readonly checkpointId: number;
  readonly kind: 'checkpoint' | 'savepoint';
}

interface CaseJson {
  readonly flinkVersion: string;
  readonly originalDirectory: string;
  readonly bucket?: string;
  readonly objects?: string;
  readonly pointers: readonly PointerJson[];
  readonly readableOnlyByFlink111?: readonly PointerJson[];
}

/** The cases that the repository carries. */
export function fixtureCases(): readonly CorpusCase[] {
  return casesBelow(fixturesDirectory(), 'fixtures');
}

/** {@link fixtureCases} and, where it is there, the full corpus. */
export function allCases(): readonly CorpusCase[] {
  const corpus = corpusDirectory();
  return [...fixtureCases(), ...(corpus === undefined ? [] : casesBelow(corpus, 'corpus'))];
}

/** One of the cases that the repository carries, e.g. `flink-2.3.0/unaligned`. */
export function fixtureCase(name: string): CorpusCase {
  const found = fixtureCases().find(({ label }) => label === `fixtures/${name}`);
  if (found === undefined) throw new Error(`there is no fixture ${name}`);
  return found;
}

/** The pointers of all cases. */
export function pointersOf(cases: readonly CorpusCase[]): readonly CorpusPointer[] {
  return cases.flatMap(({ pointers }) => pointers);
}

function casesBelow(root: string, label: string): CorpusCase[] {
  return caseDirectories(root).map((directory) => loadCase(directory, `${label}/${relative(root, directory)}`));
}

function caseDirectories(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'case.json')) return [directory];
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => caseDirectories(join(directory, name)));
}

function loadCase(directory: string, label: string): CorpusCase {
  const json = JSON.parse(readFileSync(join(directory, 'case.json'), 'utf8')) as CaseJson;
  const { bucket, objects, originalDirectory } = json;
  const mapping =
    bucket === undefined || objects === undefined
      ? { uri: originalDirectory, directory }
      : { uri: bucket, directory: join(directory, objects) };
  const pointers: CorpusPointer[] = [];
  const result = { label, directory, flinkVersion: json.flinkVersion, mapping, pointers };
  for (const pointer of [...json.pointers, ...(json.readableOnlyByFlink111 ?? [])]) {
    const externalPointer = pointer.uri ?? `${originalDirectory}/${pointer.pointer}`;
    const own = join(mapping.directory, externalPointer.slice(mapping.uri.length));
    const beside = (name: string | undefined): string | undefined => name && join(directory, name);
    pointers.push({
      label: `${label} ${pointer.pointer}`,
      case: result,
      directory: own,
      metadataFile: join(own, '_metadata'),
      externalPointer,
      oracleFile: beside(pointer.oracle),
      channelsFile: beside(pointer.channels),
      metadataVersion: pointer.metadataVersion,
      checkpointId: pointer.checkpointId,
      kind: pointer.kind,
    });
  }
  return result;
}
