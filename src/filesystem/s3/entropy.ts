/**
 * The place in a path where Flink puts random characters, so that a store spreads the load (`s3.entropy.key`). Data files
 * have them; the metadata is where the path leads without the marker, and only there can a checkpoint be found.
 */
import { Path } from '../path.js';

const SCHEMES: ReadonlySet<string> = new Set(['s3', 's3a', 's3n', 's3p']);

/** The marker in the options, if there is one. */
export function entropyKeyOf(configuration: ReadonlyMap<string, string>): string | undefined {
  return configuration.get('s3.entropy.key')?.trim() || undefined;
}

/** Takes the marker out of a path of S3, as Flink's `EntropyInjector` does for metadata: the first one. */
export function withoutEntropy(path: Path, key: string | undefined): Path {
  const { scheme, authority } = path;
  if (key === undefined || scheme === undefined || !SCHEMES.has(scheme) || !path.path.includes(key)) return path;
  const rest = path.path.replace(key, '').replace(/\/{2,}/g, '/');
  return Path.verbatim({ scheme, authority, path: rest }).tidy;
}
