/**
 * Copies or rebases a checkpoint and is killed at one of its changes: `copy POINTER TARGET N`, `rebase POINTER OLD NEW N`,
 * `savepoint POINTER TARGET N`. Prints the number of changes if it gets to the end. N may be `all` for none.
 */
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { copyCheckpoint } from '../../src/operations/copy/copy.js';
import { resolvePointer } from '../../src/operations/pointer.js';
import { rebaseCheckpoint } from '../../src/operations/rebase.js';
import { savepointFrom } from '../../src/operations/savepoint-from.js';
import { dyingAt, watching } from './dying-file-system.js';

const [what = '', given = '', ...rest] = process.argv.slice(2);
const at = rest.at(-1);
let changes = 0;
const die = dyingAt(at === 'all' ? Number.POSITIVE_INFINITY : Number(at));
const fileSystems = watching(createFileSystems({ configuration: new Map() }), (...change) => {
  changes++;
  die(...change);
});
const pointer = await resolvePointer(fileSystems, given);
const path = (text = ''): Path => fileSystems.qualify(Path.parse(text));
const now = (): number => Date.now();
if (what === 'copy') await copyCheckpoint(fileSystems, pointer, path(rest[0]), { now });
else if (what === 'savepoint') await savepointFrom(fileSystems, pointer, path(rest[0]), undefined, { now });
else {
  const prefixes = [{ old: path(rest[0]), new: path(rest[1]) }];
  await rebaseCheckpoint(fileSystems, pointer, { prefixes, target: { kind: 'in-place' } });
}
process.stdout.write(`${changes}\n`);
