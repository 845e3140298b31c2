import { renderFields } from './table.js';
import type { Renderer } from './view.js';

/** The document of `ckpt resolve`. */
export interface ResolveDocument {
  /** As given. */
  readonly pointer: string;
  readonly externalPointer: string;
  readonly metadataPath: string;
  readonly directory: string;
}

/** The external pointer and the metadata path. */
export const renderResolved: Renderer<ResolveDocument> = ({ externalPointer, metadataPath }, view) =>
  renderFields(
    [
      ['External pointer', externalPointer, view.style.name],
      ['Metadata', metadataPath],
    ],
    view,
  );
