import { formatExactBytes, plural } from './format.js';
import { printable } from './printable.js';
import type { Renderer } from './view.js';

/** The document of `ckpt assemble`. */
export interface AssembleDocument {
  readonly target: string;
  readonly bytes: number;
  readonly version: number;
  readonly operators: number;
  readonly subtasks: number;
}

/** One line on what was written. */
export const renderAssembled: Renderer<AssembleDocument> = ({ target, bytes, version, operators, subtasks }) => {
  const what = `${plural(operators, 'operator')}, ${plural(subtasks, 'subtask')}`;
  return `${printable(target)}: ${formatExactBytes(bytes)}, metadata version ${version}, ${what}\n`;
};
