/** What commands report that write metadata: `copy`, `rebase`, `edit`. */

/** The common document. */
export interface ChangeResult {
  /** The pointer that was read, qualified. */
  readonly source: string;
  /** What was written: a directory, or a metadata file. */
  readonly target: string;
  /** Files written, the metadata included. */
  readonly files: number;
  /** Their bytes. */
  readonly bytes: number;
  /** Handles that name another path now. */
  readonly rewrittenHandles: number;
  readonly prefixes: readonly { readonly old: string; readonly new: string; readonly handles: number }[];
  /** Whether all files that the result names are there; null if that was not asked for. */
  readonly verified: boolean | null;
}
