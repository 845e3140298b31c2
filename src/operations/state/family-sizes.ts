/** How large the states of a RocksDB or ForSt backend are, by its MANIFEST alone: no table is opened. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { RocksDatabase } from '../rocksdb/database.js';
import type { KeyedPiece } from './pieces.js';

/**
 * Bytes of the tables of each column family, by the name of the state. Undefined where keyed state is in another form, or
 * where the MANIFEST does not tell: whoever reads the state will say why.
 * @throws the signal's reason
 */
export async function familySizes(
  fileSystems: FileSystems,
  piece: KeyedPiece,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number> | undefined> {
  if (piece.kind !== 'incremental') return undefined;
  try {
    const database = await RocksDatabase.open(piece.files, { fileSystems, signal });
    try {
      return new Map(
        database.families.map(({ name }) => [name, database.tablesOf(name).reduce((sum, { size }) => sum + size, 0)]),
      );
    } finally {
      await database.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    const isExpected =
      error instanceof CkptError || error instanceof UnknownFormatError || error instanceof ByteFormatError;
    if (!isExpected) throw error;
    return undefined;
  }
}
