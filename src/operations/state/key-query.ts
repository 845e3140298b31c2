/** Which keys are wanted, and which key groups must be looked at for them. */

import { ByteReader } from '../../bytes/byte-reader.js';
import { ByteWriter } from '../../bytes/byte-writer.js';
import { CkptError, UsageError } from '../../errors.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { keyGroupOf } from '../../format/value/key-group.js';
import { serializerOf } from '../../format/value/serializer-of.js';
import { type StateValue, UnwritableValueError, type ValueSerializer } from '../../format/value/value-serializer.js';
import type { KeyFilter } from './keyed-rows.js';
import { loadKeyedStates } from './keyed-states.js';
import type { OperatorPieces } from './operators.js';
import type { KeyGroups } from './pieces.js';
import { textOf } from './rows.js';
import type { WalkContext } from './walk-context.js';

/** Conditions as a user gives them; all of them must hold. */
export interface KeyQuery {
  /** The key as text: strings as they are, anything else as JSON. */
  readonly key?: string | undefined;
  /** How the text of the key begins. */
  readonly keyPrefix?: string | undefined;
  /** What the text of the key contains. */
  readonly whereKey?: RegExp | undefined;
  /** The namespace as text. */
  readonly namespace?: string | undefined;
  /** True with any of them. */
  readonly isKeyed: boolean;
}

/** What it means for an operator. */
export interface KeyQueryResult {
  readonly filter: KeyFilter;
  /** The only key groups where such keys can be; undefined: all. */
  readonly keyGroups: KeyGroups | undefined;
  /** Why all key groups must be read although one key is wanted. */
  readonly scanned: string | undefined;
  /** No key of this operator can be the one that is wanted. */
  readonly isImpossible: boolean;
}

/**
 * Finds out where the wanted keys of an operator are.
 * @throws UsageError if the only operator that is asked has keys of which the text is none
 */
export async function resolveKeyQuery(
  operator: OperatorPieces,
  query: KeyQuery,
  context: WalkContext,
): Promise<KeyQueryResult> {
  const { namespace } = query;
  const acceptsNamespace = namespace === undefined ? undefined : textMatcher(namespace);
  const acceptsKey = keyMatcher(query);
  const all: KeyQueryResult = {
    filter: { acceptsKey, acceptsNamespace },
    keyGroups: undefined,
    scanned: undefined,
    isImpossible: false,
  };
  if (query.key === undefined) return all;
  const scan = (reason: string): KeyQueryResult => {
    const isKey = textMatcher(query.key ?? '');
    return {
      ...all,
      filter: { ...all.filter, acceptsKey: (key) => isKey(key) && (acceptsKey?.(key) ?? true) },
      scanned: reason,
    };
  };
  const serializer = await keySerializer(operator, context);
  if (!serializer) return scan('no file of it says what type its keys are');
  if (serializer.unwritable !== undefined) return scan(serializer.unwritable);
  const keyBytes = writeKey(serializer, query.key);
  if (!keyBytes) return { ...all, isImpossible: true };
  const filter = { ...all.filter, keyBytes };
  if (serializer.unhashable !== undefined) return { ...all, filter, scanned: serializer.unhashable };
  const keyGroup = keyGroupOf(serializer.hash(ByteReader.over(keyBytes)), operator.maxParallelism);
  return { ...all, filter, keyGroups: { first: keyGroup, last: keyGroup } };
}

/** The bytes of a key; undefined if the text is none of the type. */
function writeKey(serializer: ValueSerializer, text: string): Uint8Array | undefined {
  for (const value of candidates(serializer, text)) {
    try {
      const writer = new ByteWriter();
      serializer.write(value, writer);
      return writer.drain();
    } catch (error) {
      if (!(error instanceof UnwritableValueError)) throw error;
    }
  }
  return undefined;
}

/** What a text may stand for: a string is taken as it is, where that is no key it may be JSON. */
function candidates(serializer: ValueSerializer, text: string): StateValue[] {
  const json = parseJson(text);
  if (serializer.type === 'String') return [text];
  return json === undefined ? [text] : [json, text];
}

const INTEGER = /^-?\d+$/;

/** Numbers that JavaScript does not hold stay text, as documents have them. */
function parseJson(text: string): StateValue | undefined {
  if (INTEGER.test(text) && !Number.isSafeInteger(Number(text))) return text;
  try {
    return JSON.parse(text) as StateValue;
  } catch {
    return undefined;
  }
}

/** Compares with a text as it is, and as JSON. */
function textMatcher(text: string): (value: StateValue) => boolean {
  const json = parseJson(text);
  const asJson = json === undefined ? undefined : textOf(json);
  return (value) => {
    const own = textOf(value);
    return own === text || own === asJson;
  };
}

function keyMatcher({ keyPrefix, whereKey }: KeyQuery): ((key: StateValue) => boolean) | undefined {
  if (keyPrefix === undefined && whereKey === undefined) return undefined;
  return (key) => {
    const text = textOf(key);
    return (keyPrefix === undefined || text.startsWith(keyPrefix)) && (whereKey === undefined || whereKey.test(text));
  };
}

/** How the keys of an operator are written; undefined if no header tells. */
async function keySerializer(operator: OperatorPieces, context: WalkContext): Promise<ValueSerializer | undefined> {
  for (const { keyed } of operator.subtasks) {
    if (!keyed) continue;
    try {
      const { keySnapshot } = await loadKeyedStates(context.fileSystems, keyed, context.signal);
      if (keySnapshot) return serializerOf(keySnapshot);
    } catch (error) {
      // The walk tells of what cannot be read; another subtask may do for this.
      context.signal?.throwIfAborted();
      if (!(error instanceof CkptError || error instanceof UnknownFormatError)) throw error;
    }
  }
  return undefined;
}

/** Checks what a user gave. @throws UsageError */
export function keyQuery(given: {
  readonly key?: string | undefined;
  readonly keyPrefix?: string | undefined;
  readonly whereKey?: string | undefined;
  readonly namespace?: string | undefined;
}): KeyQuery {
  const { key, keyPrefix, whereKey, namespace } = given;
  let pattern: RegExp | undefined;
  try {
    if (whereKey !== undefined) pattern = new RegExp(whereKey, 'u');
  } catch (error) {
    throw new UsageError(`--where-key: "${whereKey}" is no regular expression`, { value: whereKey }, { cause: error });
  }
  const isKeyed = [key, keyPrefix, whereKey, namespace].some((value) => value !== undefined);
  return { key, keyPrefix, whereKey: pattern, namespace, isKeyed };
}
