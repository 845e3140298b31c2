/**
 * Every command, in the order in which help shows them.
 */
import type { CommandSpec } from '../spec.js';
import { assemble } from './assemble.spec.js';
import { copy } from './copy.spec.js';
import { diff } from './diff.spec.js';
import { discard } from './discard.spec.js';
import { dump } from './dump.spec.js';
import { edit } from './edit.spec.js';
import { gc } from './gc.spec.js';
import { inspect } from './inspect.spec.js';
import { list } from './list.spec.js';
import { offsets } from './offsets.spec.js';
import { prune } from './prune.spec.js';
import { read } from './read.spec.js';
import { rebase } from './rebase.spec.js';
import { resolve } from './resolve.spec.js';
import { savepoint } from './savepoint.spec.js';
import { sql } from './sql.spec.js';
import { states } from './states.spec.js';
import { uid } from './uid.spec.js';
import { verify } from './verify.spec.js';

/** The whole command tree. Only specs: the work of a command is loaded when it was chosen. */
export const commands: readonly CommandSpec[] = [
  resolve,
  inspect,
  dump,
  list,
  verify,
  diff,
  states,
  read,
  offsets,
  sql,
  assemble,
  savepoint,
  copy,
  rebase,
  edit,
  discard,
  gc,
  prune,
  uid,
];
