/**
 * Names of files that this program has not finished writing. Flink writes nothing that looks like them, so what a killed
 * run leaves behind is never taken for part of a checkpoint.
 */
import { createHash, randomBytes } from 'node:crypto';

const PREFIX = '.ckpt-';

/** A new name that nobody can guess, so nobody can have put something there. */
export function temporaryName(): string {
  return `${PREFIX}${randomBytes(16).toString('hex')}.tmp`;
}

/**
 * Names like those of {@link temporaryName} that belong together.
 * @returns gives the same name for the same number, an unsigned one of 32 bits
 */
export function temporaryNames(): (number: number) => string {
  const common = randomBytes(12).toString('hex');
  return (number) => `${PREFIX}${common}${number.toString(16).padStart(8, '0')}.tmp`;
}

/** The name of the marker that is held while `name` comes into being, where a store cannot do that by itself. */
export function markerName(name: string | Buffer): string {
  return `${PREFIX}${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`;
}

/** True for names that {@link temporaryName}, {@link temporaryNames} and {@link markerName} make: leftovers of a killed run, unless one is at work. */
export function isTemporaryName(name: string): boolean {
  return /^\.ckpt-[0-9a-f]{32}\.(?:tmp|lock)$/.test(name);
}
