import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Path } from '../../src/filesystem/path.js';
import { visitMetadata } from '../../src/format/metadata/read.js';
import { DeepChecks } from '../../src/operations/verify/deep-checks.js';
import { FileLooks } from '../../src/operations/verify/file-looks.js';
import type { CheckResult, StateTask } from '../../src/operations/verify/state-task.js';
import { VerifyVisitor } from '../../src/operations/verify/verify-visitor.js';
import type { CorpusCase } from './corpus.js';
import { fileSystemsOf } from './mapped-case.js';
import { sourceOf } from './metadata-cycle.js';

/** A piece of state with its bytes in memory. */
export interface Piece {
  /** Names it in messages. */
  readonly name: string;
  readonly kind: StateTask['form']['kind'];
  readonly bytes: Uint8Array;
  readonly task: StateTask;
}

/** Every piece of state that the metadata of a case describes, each file (or part of one) once. */
export async function piecesOf(corpusCase: CorpusCase): Promise<Piece[]> {
  const { mapping, pointers } = corpusCase;
  const looks = new FileLooks(fileSystemsOf(corpusCase));
  const pieces = new Map<string, Piece>();
  for (const { externalPointer, metadataFile } of pointers) {
    const visitor = new VerifyVisitor(Path.parse(externalPointer), looks, { deep: true });
    await visitMetadata(sourceOf(readFileSync(metadataFile)), metadataFile, visitor);
    for (const task of visitor.tasks) {
      const { source, form } = task;
      const local = 'name' in form ? ` (${form.name})` : '';
      if (source.kind === 'inline') {
        const name = `${source.name}${local}`;
        pieces.set(`${name} ${pieces.size}`, { name, kind: form.kind, bytes: source.bytes, task });
        continue;
      }
      const { path, start, length } = source;
      const file = readFileSync(join(mapping.directory, path.slice(mapping.uri.length)));
      const bytes = new Uint8Array(length < 0 ? file : file.subarray(start, start + length));
      pieces.set(`${path} ${start}`, { name: `${path}${local}`, kind: form.kind, bytes, task });
    }
  }
  return [...pieces.values()];
}

/** Checks other bytes in place of those of a piece. */
export async function checkBytes({ task }: Piece, bytes: Uint8Array, checks: DeepChecks): Promise<CheckResult> {
  let result: CheckResult | undefined;
  const source = { kind: 'inline', name: 'bytes', bytes } as const;
  await checks.checkAll([{ ...task, source }], (_task, found) => {
    result = found;
  });
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Checks of bytes in memory: no store is needed. */
export function checksInMemory(corpusCase: CorpusCase): DeepChecks {
  return new DeepChecks(fileSystemsOf(corpusCase));
}
