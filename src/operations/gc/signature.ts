/** What tells that something in a checkpoint's directory has changed: its names and its metadata file. */
import { CkptError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { METADATA_FILE } from '../layout.js';

/** A sum over names: their order means nothing, and one that is taken away can be subtracted. */
export class NameSum {
  count = 0;
  private sum = 0;

  add(name: string): void {
    this.count++;
    this.sum = (this.sum + hash(name)) >>> 0;
  }

  remove(name: string): void {
    this.count--;
    this.sum = (this.sum - hash(name)) >>> 0;
  }

  equals(other: NameSum): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}

function hash(name: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) value = Math.imul(value ^ name.charCodeAt(i), 0x01000193);
  return Math.imul(value ^ (value >>> 15), 0x85ebca6b) >>> 0;
}

/** Tells one state of a directory's metadata file from another: it, its size, its time. `none` if there is none. */
export async function metadataSignature(fileSystems: FileSystems, directory: Path): Promise<string> {
  try {
    const path = directory.child(METADATA_FILE);
    const { identity, size, newestTime } = await (await fileSystems.get(path)).getFileStatus(path);
    return `${identity ?? ''} ${size} ${newestTime}`;
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
    return 'none';
  }
}
