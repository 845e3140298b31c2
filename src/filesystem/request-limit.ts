/** How many requests at once a user lets a store have. */
import { UsageError } from '../errors.js';
import { DEFAULT_REQUESTS } from './requests.js';
import type { FileSystemSettings } from './settings.js';

/**
 * What was asked for on the command line; else Flink's `fs.<scheme>.limit.total`, if that is less than the default and not
 * its word for no limit (0 or less): the default suits a store, a limit protects it.
 * @throws UsageError if that option is no number
 */
export function requestLimit(settings: FileSystemSettings, scheme: string): number {
  if (settings.requests !== undefined) return settings.requests;
  const option = `fs.${scheme}.limit.total`;
  const text = settings.configuration.get(option)?.trim();
  if (text === undefined || text === '') return DEFAULT_REQUESTS;
  const limit = Number(text);
  if (!Number.isInteger(limit))
    throw new UsageError(`${option}: "${text}" is no whole number`, { option, value: text });
  return limit > 0 ? Math.min(limit, DEFAULT_REQUESTS) : DEFAULT_REQUESTS;
}
