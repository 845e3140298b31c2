/** `viewfs` paths: a name for a tree put together from several file systems. */
import { UnsupportedOperationError } from '../../errors.js';
import type { FileSystemSettings } from '../settings.js';
import { loadHadoopConfiguration } from './hadoop-configuration.js';

const DEFAULT_TABLE = 'default';
const MOST_SHOWN = 5;

/**
 * Refuses, and says what to use: a mount table has links of several kinds (merged, n-fold, by pattern, with a fallback) and
 * directories of its own, and who takes one part of it for the whole deletes the wrong files. `--map` does what a plain link
 * does.
 * @throws UnsupportedOperationError always
 */
export async function refuseViewFs(settings: FileSystemSettings, authority: string | undefined): Promise<never> {
  const hadoop = await loadHadoopConfiguration(settings);
  const front = `fs.viewfs.mounttable.${authority ?? DEFAULT_TABLE}.link.`;
  const links = hadoop.names.filter((name) => name.startsWith(`${front}/`)).sort();
  const root = `viewfs://${authority ?? ''}`;
  const options = links.slice(0, MOST_SHOWN).map((name) => {
    return `--map ${root}${name.slice(front.length)}=${hadoop.get(name) ?? ''}`;
  });
  const more = links.length > MOST_SHOWN ? ` (and ${links.length - MOST_SHOWN} more links)` : '';
  const advice =
    options.length === 0
      ? `use the hdfs:// path behind it, or --map ${root}/LINK=hdfs://HOST/PATH`
      : `by its mount table use ${options.join(' ')}${more}`;
  throw new UnsupportedOperationError(`${root}/`, `a mount table of viewfs (${advice})`);
}
