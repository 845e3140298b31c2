/**
 * What the process is connected to, as plain values, so that tests can be connected to something else.
 */
import type { Readable } from 'node:stream';

/** The streams and surroundings of one run. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What decides about colour. */
export interface ColorInputs {
  readonly isTTY: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--no-color` was given. */
  readonly refused: boolean;
}

/**
 * Whether to write colours: not with `--no-color` or a non-empty `NO_COLOR`, always with `FORCE_COLOR` (unless it is `0`
 * or `false`), else on a terminal that is not `dumb`.
 */
export function decideColor(inputs: ColorInputs): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force, TERM: kind } = inputs.environment;
  if (inputs.refused || (no !== undefined && no !== '')) return false;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return inputs.isTTY && kind !== 'dumb';
}

/** Columns that a line may fill: those of the terminal, 80 if it does not say, no limit for a file or a pipe. */
export function decideWidth(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  if (stream.isTTY !== true) return Number.POSITIVE_INFINITY;
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80;
}
