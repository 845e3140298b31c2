/** What goes with an object that is written. */
import type { PutOptions } from '../object-store/object-store.js';
import { TAG } from './gcs-api.js';

/** What an object is described as when it is written. */
export function describe({ tag }: PutOptions): Readonly<Record<string, unknown>> {
  return { contentType: 'application/octet-stream', ...(tag !== undefined && { metadata: { [TAG]: tag } }) };
}

/** What a request that writes asks for first. */
export function condition({ ifAbsent }: PutOptions): Readonly<Record<string, number>> {
  return ifAbsent === true ? { ifGenerationMatch: 0 } : {};
}
