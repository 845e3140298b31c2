import { readFileSync } from 'node:fs';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import type { CorpusCase, CorpusPointer } from './corpus.js';

/** A case as it was where Flink wrote it: paths of the metadata lead to `directory`, by default where the case is. */
export function fileSystemsOf({ mapping }: CorpusCase, directory = mapping.directory): FileSystems {
  const systems = createFileSystems({ configuration: new Map() });
  const map = `${mapping.uri}=${directory.replaceAll('=', '\\=')}`;
  return mapFileSystems(
    systems,
    PathMapping.parse([map], (path) => systems.qualify(path)),
  );
}

/** How a handle names a file, and how long it says that the file is. */
export interface NamedFile {
  readonly path: string;
  readonly kind: 'whole' | 'segment' | 'changelog';
  /** Bytes of the file; of segments up to where the last one ends. */
  readonly bytes: number;
  /** `operatorId/subtask` of everybody who names it. */
  readonly users: ReadonlySet<string>;
  /** Of segments: those whose segment is the last one. */
  readonly lastUsers: ReadonlySet<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: oracle documents are looked into without types
type Json = any;

/** Every file that Flink's own loader found in the metadata, from the oracle document. */
export function namedFiles({ oracleFile }: CorpusPointer): NamedFile[] {
  if (oracleFile === undefined) return [];
  const files = new Map<
    string,
    { path: string; kind: NamedFile['kind']; bytes: number; users: Set<string>; lastUsers: Set<string> }
  >();
  const visit = (value: Json, user: string, inChangelog: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.filePath === 'string') note(value, user, inChangelog);
    for (const [key, inner] of Object.entries(value)) visit(inner, user, inChangelog || key === 'handlesAndOffsets');
  };
  const note = (handle: Json, user: string, inChangelog: boolean): void => {
    const isSegment = handle.type === 'SegmentFileStateHandle';
    const bytes = isSegment
      ? Number(handle.startPos) + Number(handle.stateSize)
      : Number(handle.stateSize) + (inChangelog ? 1 : 0);
    const path: string = handle.filePath;
    const kind = isSegment ? 'segment' : inChangelog ? 'changelog' : 'whole';
    const file = files.get(path) ?? { path, kind, bytes: -1, users: new Set<string>(), lastUsers: new Set<string>() };
    files.set(path, file);
    file.users.add(user);
    if (bytes > file.bytes) file.lastUsers.clear();
    if (bytes >= file.bytes) file.lastUsers.add(user);
    file.bytes = Math.max(file.bytes, bytes);
  };
  const document: Json = JSON.parse(readFileSync(oracleFile, 'utf8'));
  for (const { operatorId, subtasks } of document.operatorStates) {
    for (const subtask of subtasks) visit(subtask, `${operatorId}/${subtask.index}`, false);
  }
  return [...files.values()];
}
