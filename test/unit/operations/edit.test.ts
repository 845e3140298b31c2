import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RefusedError, UsageError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { operatorIdOfUid } from '../../../src/format/hash/operator-id.js';
import type { CheckpointMetadata, OperatorState } from '../../../src/model/checkpoint-metadata.js';
import { type Edits, editMetadata, planEdits } from '../../../src/operations/edit.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import {
  checkpointAt,
  file,
  inline,
  keyGroups,
  metadata,
  operator,
  operatorId,
  operatorState,
  relativeFile,
  subtask,
} from '../../support/made-metadata.js';
import { tempDirectory } from '../../support/temp.js';

const fileSystems = createFileSystems({ configuration: new Map() });
const NONE: Edits = { setUid: [], setOperatorId: [], drop: [], keep: [], setMaxParallelism: [] };

const keyed = operator({
  operatorId: operatorIdOfUid('keyed'),
  uid: 'keyed',
  name: 'Counter',
  parallelism: 2,
  subtasks: [subtask({ managedKeyedState: keyGroups(file('file:/x/a')) })],
});
const source = operator({
  operatorId: operatorIdOfUid('source'),
  uid: 'source',
  name: 'Source',
  parallelism: 4,
  subtasks: [subtask({ managedOperatorState: operatorState(inline(20), 'list') })],
});
const nameless = operator({
  operatorId: operatorId(0xabc),
  subtasks: [subtask({ rawKeyedState: keyGroups(inline()) })],
});
const ALL = [keyed, source, nameless];

const checkpoint = (operatorStates: readonly OperatorState[], more: Partial<CheckpointMetadata> = {}): Uint8Array =>
  metadata({ operatorStates, ...more });

/** Applies edits to the three operators. */
async function edit(edits: Partial<Edits>, operators = ALL, more: Partial<CheckpointMetadata> = {}): Promise<Buffer> {
  const directory = await checkpointAt(await tempDirectory(), checkpoint(operators, more));
  const pointer = await resolvePointer(fileSystems, directory);
  const plan = await planEdits(fileSystems, pointer, { ...NONE, ...edits });
  const path = Path.parse(`file:${join(directory, '_metadata.edited')}`);
  await editMetadata(fileSystems, pointer, plan, { kind: 'file', path });
  return readFile(path.path);
}

describe('edit', () => {
  it('gives an operator another uid and the id of it, and nothing else', async () => {
    const renamed = { ...keyed, uid: 'new uid', operatorId: operatorIdOfUid('new uid') };
    for (const old of ['keyed', 'Counter', keyed.operatorId, keyed.operatorId.slice(0, 8)]) {
      const edited = await edit({ setUid: [{ old, new: 'new uid' }] });
      expect(edited).toEqual(Buffer.from(checkpoint([renamed, source, nameless])));
    }
  });

  it('changes the id alone where the version stores no uid', async () => {
    const old = { version: 3 };
    const operators = ALL.map((one) => ({ ...one, uid: null, name: null }));
    const edited = await edit({ setUid: [{ old: keyed.operatorId, new: 'n' }] }, operators, old);
    const [first, ...others] = operators;
    expect(edited).toEqual(
      Buffer.from(checkpoint([{ ...(first ?? keyed), operatorId: operatorIdOfUid('n') }, ...others], old)),
    );
  });

  it('does several things in one call, even an exchange', async () => {
    const edited = await edit({
      setUid: [
        { old: 'keyed', new: 'source' },
        { old: 'source', new: 'keyed' },
      ],
      setMaxParallelism: [{ operator: 'source', value: 256 }],
      drop: [nameless.operatorId],
    });
    const exchanged = [
      { ...keyed, uid: 'source', operatorId: source.operatorId },
      { ...source, uid: 'keyed', operatorId: keyed.operatorId, maxParallelism: 256 },
    ];
    expect(edited).toEqual(Buffer.from(checkpoint(exchanged)));
  });

  it('drops what is named, or all else', async () => {
    expect(await edit({ drop: ['Counter', 'source'] })).toEqual(Buffer.from(checkpoint([nameless])));
    expect(await edit({ keep: ['Counter', 'source'] })).toEqual(Buffer.from(checkpoint([keyed, source])));
  });

  it('sets an id', async () => {
    const id = 'ABCDEF00112233445566778899AABBCC';
    const edited = await edit({ setOperatorId: [{ old: operatorId(0xabc), new: id }] });
    expect(edited).toEqual(Buffer.from(checkpoint([keyed, source, { ...nameless, operatorId: id.toLowerCase() }])));
  });

  it.each<[string, Partial<Edits>, string]>([
    ['an unknown operator', { drop: ['Counte'] }, 'Counter'],
    ['two operators with one id', { setUid: [{ old: 'keyed', new: 'source' }] }, 'would both have the id'],
    [
      'two operators with one id',
      { setOperatorId: [{ old: 'keyed', new: source.operatorId }] },
      'would both have the id',
    ],
    ['keyed state', { setMaxParallelism: [{ operator: 'keyed', value: 256 }] }, 'keyed state'],
    ['raw keyed state', { setMaxParallelism: [{ operator: nameless.operatorId, value: 256 }] }, 'keyed state'],
    ['less than the parallelism', { setMaxParallelism: [{ operator: 'source', value: 3 }] }, 'below the parallelism 4'],
    ['more than Flink takes', { setMaxParallelism: [{ operator: 'source', value: 32_769 }] }, 'at most'],
  ])('refuses %s', async (_what, edits, message) => {
    const failure = edit(edits);
    await expect(failure).rejects.toBeInstanceOf(RefusedError);
    await expect(failure).rejects.toThrow(message);
  });

  it.each<[Partial<Edits>, string]>([
    [{}, 'no edit changes anything'],
    [{ setUid: [{ old: 'keyed', new: 'keyed' }] }, 'no edit changes anything'],
    [{ setUid: [{ old: 'keyed', new: '' }] }, 'must not be empty'],
    [{ setOperatorId: [{ old: 'keyed', new: 'abc' }] }, '32 hex digits'],
    [{ drop: ['keyed'], keep: ['source'] }, 'exclude each other'],
    [{ drop: ['keyed'], setUid: [{ old: 'keyed', new: 'x' }] }, 'dropped and changed'],
    [{ setUid: [{ old: 'keyed', new: 'x' }], setOperatorId: [{ old: 'Counter', new: operatorId(9) }] }, 'two new ids'],
  ])('does not take %j', async (edits, message) => {
    const failure = edit(edits);
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow(message);
  });

  it('writes relative handles to their own directory only', async () => {
    const relative = operator({ uid: 'r', subtasks: [subtask({ managedKeyedState: keyGroups(relativeFile('a')) })] });
    const directory = await checkpointAt(await tempDirectory(), checkpoint([relative, source]));
    const pointer = await resolvePointer(fileSystems, directory);
    const elsewhere = { kind: 'file', path: Path.parse(`file:${await tempDirectory()}/m`) } as const;
    const rename = await planEdits(fileSystems, pointer, { ...NONE, setUid: [{ old: 'r', new: 's' }] });
    await expect(editMetadata(fileSystems, pointer, rename, elsewhere)).rejects.toThrow('relative to');
    // Without its operator nothing is relative any more.
    const drop = await planEdits(fileSystems, pointer, { ...NONE, drop: ['r'] });
    await editMetadata(fileSystems, pointer, drop, elsewhere);
    expect(await readFile(elsewhere.path.path)).toEqual(Buffer.from(checkpoint([source])));
  });
});
