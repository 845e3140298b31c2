import type { Style } from './style.js';

/** What a renderer may know of the place where its text will appear. */
export interface View {
  readonly style: Style;
  /** Columns that a line may fill; `Infinity` where the text goes to a file or a pipe. */
  readonly width: number;
  /** The moment ages are counted from, in milliseconds since the epoch. */
  readonly now: number;
  /** Exact numbers and everything else that is normally summed up. */
  readonly verbose: boolean;
}

/**
 * Turns a result into text for people: whole lines, the last one ended as well. Pieces, if it gives several, are printed
 * one after the other, so that a long result need not be one string.
 */
export type Renderer<T> = (result: T, view: View) => string | Iterable<string>;

/** A renderer that is loaded when there is text to make: with `--json` there is none. */
export interface LazyRenderer<T> {
  readonly load: () => Promise<Renderer<T>>;
}
