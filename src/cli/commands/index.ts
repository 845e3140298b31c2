/**
 * Every command, in the order in which help shows them.
 */
import type { CommandSpec } from '../spec.js';
import { uid } from './uid.spec.js';

/** The whole command tree. Only specs: the work of a command is loaded when it was chosen. */
export const commands: readonly CommandSpec[] = [uid];
