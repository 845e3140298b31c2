import { mapFileSystems } from '../filesystem/map.js';
import { PathMapping } from '../filesystem/path-mapping.js';
import { createFileSystems, type FileSystemSettings, type FileSystems } from '../filesystem/registry.js';
import type { Configuration } from './configuration.js';

/** The file systems of one run. */
export interface Stores {
  /** Take names as users and metadata write them; `--map` is applied within. */
  readonly fileSystems: FileSystems;
  readonly pathMapping: PathMapping;
}

/**
 * Makes the file systems. No I/O.
 * @param mappings the values of `--map`
 * @throws UsageError if a mapping is unclear
 */
export function openStores(
  configuration: Configuration,
  mappings: readonly string[],
  settings: Omit<FileSystemSettings, 'configuration'> = {},
): Stores {
  const real = createFileSystems({ ...settings, configuration: configuration.values });
  const pathMapping = PathMapping.parse(mappings, (path) => real.qualify(path));
  return { fileSystems: mapFileSystems(real, pathMapping), pathMapping };
}
