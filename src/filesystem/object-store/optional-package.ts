/** Loads the SDK of a store, which need not be installed. */
import { MissingPackageError } from '../../errors.js';

/** A package that a scheme needs, and how it is installed. */
export interface OptionalPackage {
  readonly scheme: string;
  readonly name: string;
  /** With the range that works, e.g. `@google-cloud/storage@7`. */
  readonly toInstall: string;
}

/**
 * The module of a package.
 * @param load imports it
 * @throws MissingPackageError if it, or a package that it needs, is not there; what `load` throws
 */
export async function loadOptional<T>(wanted: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    // Beside a global ckpt, where it is found.
    throw new MissingPackageError(wanted.scheme, wanted.name, `npm install -g ${wanted.toInstall}`, { cause: error });
  }
}
