/** Which files two metadata files name both, and which only one of them: hashes of names, some 50 bytes a file. */
import type { KeyedReference } from '../area/references.js';
import { FileHasher, HashIndex64, hashText } from '../file-index.js';
import { Hash64, HashSet64 } from '../file-set.js';
import type { FileDifference } from './result.js';

/** Which of the two. */
export type Side = 'old' | 'new';

const NAME_SEED = 7;

/** See the file comment. */
export class FileComparison {
  private readonly hasher = new FileHasher();
  private readonly index = new HashIndex64();
  private readonly nameHash = new Hash64();
  private readonly bytes: Readonly<Record<Side, (number | undefined)[]>> = { old: [], new: [] };
  private readonly seen: Readonly<Record<Side, HashSet64>> = { old: new HashSet64(), new: new HashSet64() };
  private readonly names: { readonly high: number[]; readonly low: number[] } = { high: [], low: [] };

  /** One of the two names a file. */
  add(side: Side, { directoryKey, name, reference, isLink }: KeyedReference): void {
    // What a link leads to is reported as well, and is the file.
    if (isLink) return;
    const hash = this.hasher.of(directoryKey, name);
    const file = this.index.indexOf(hash.high, hash.low);
    if (file === this.names.high.length) {
      const { high, low } = hashText(this.nameHash.start(NAME_SEED), name);
      this.names.high.push(high);
      this.names.low.push(low);
      this.bytes.old.push(undefined);
      this.bytes.new.push(undefined);
    }
    const bytes = this.bytes[side];
    // Of a merged file each segment counts, of any other the whole once, whatever sizes it is said to have.
    if (reference.kind === 'segment') hash.word(1 + reference.startPos).word(reference.startPos / 0x100000000);
    const isNew = this.seen[side].add(hash.high, hash.low);
    bytes[file] = (bytes[file] ?? 0) + (isNew && reference.size > 0 ? reference.size : 0);
  }

  /** @param copies whether files of the same name and size at another place may be copies */
  result({ copies }: { readonly copies: boolean }): FileDifference {
    let [common, added, removed] = [0, 0, 0];
    let [commonBytes, addedBytes, removedBytes] = [0, 0, 0];
    const { old, new: new_ } = this.bytes;
    for (let file = 0; file < this.index.size; file++) {
      const [before, after] = [old[file], new_[file]];
      if (before !== undefined && after !== undefined) {
        common++;
        commonBytes += after;
      } else if (after !== undefined) {
        added++;
        addedBytes += after;
      } else {
        removed++;
        removedBytes += before ?? 0;
      }
    }
    const relocated = copies ? this.relocated() : 0;
    return { common, added, removed, addedBytes, removedBytes, commonBytes, relocated };
  }

  private relocated(): number {
    const { old, new: new_ } = this.bytes;
    const removed = new HashIndex64();
    let relocated = 0;
    const hash = (file: number, bytes: number): Hash64 =>
      this.nameHash
        .start(this.names.high[file] ?? 0)
        .word(this.names.low[file] ?? 0)
        .word(bytes)
        .word(bytes / 0x100000000);
    for (let file = 0; file < this.index.size; file++) {
      const bytes = old[file];
      if (bytes === undefined || new_[file] !== undefined) continue;
      const { high, low } = hash(file, bytes);
      removed.indexOf(high, low);
    }
    const known = removed.size;
    for (let file = 0; file < this.index.size; file++) {
      const bytes = new_[file];
      if (bytes === undefined || old[file] !== undefined) continue;
      const { high, low } = hash(file, bytes);
      if (removed.indexOf(high, low) < known) relocated++;
    }
    return relocated;
  }
}
