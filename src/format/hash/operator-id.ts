/**
 * Operator ids: the hash of the uid that the user gave, or one that Flink makes from the shape of the job graph.
 * Origin: Flink `StreamGraphHasherV2`.
 */
import { murmur3x64128 } from './murmur3.js';

/** Bytes of an operator id. */
const ID_BYTES = 16;

/**
 * The operator id of a uid: 32 lower-case hex digits. The empty uid, which Flink 2 refuses, has 32 zeros.
 * @example operatorIdOfUid('my-uid') // '8409efe6adc6d20787611f16017c808f'
 */
export function operatorIdOfUid(uid: string): string {
  // Where JavaScript's encoder puts U+FFFD for a lone surrogate, Java's puts a question mark.
  return formatOperatorId(murmur3x64128(new TextEncoder().encode(uid.replace(/\p{Surrogate}/gu, '?'))));
}

/** What the id of an operator without a uid depends on. */
export interface GeneratedOperatorIdParts {
  /** Number of operators that got their ids before, breadth-first from the sources. */
  readonly position: number;
  /** Number of outputs to operators that can run in the same task. */
  readonly chainableOutputs: number;
  /** Operator ids of the inputs, in the order of the edges; none for a source. */
  readonly inputs: readonly string[];
}

/** The operator id that Flink makes where no uid is set: 32 lower-case hex digits. */
export function generatedOperatorId(parts: GeneratedOperatorIdParts): string {
  let hash = localHash(parts.position, parts.chainableOutputs);
  for (const input of parts.inputs) hash = foldInput(hash, parseOperatorId(input));
  return formatOperatorId(hash);
}

/** Positions (0 to this) that {@link isGeneratedSourceId} tries. */
export const MAX_SOURCE_POSITION = 20;

/** Numbers of chainable outputs (0 to this) that are tried for ids made by Flink. */
export const MAX_CHAINABLE_OUTPUTS = 20;

let generatedSourceIds: Set<string> | undefined;

/**
 * True if the id is one that Flink makes for a source without uid: a certain sign, as nobody has a uid with this hash. False
 * says nothing. Tried for the first 21 positions and up to 20 chainable outputs.
 */
export function isGeneratedSourceId(operatorId: string): boolean {
  generatedSourceIds ??= new Set(localHashes(MAX_SOURCE_POSITION).map(formatOperatorId));
  return generatedSourceIds.has(operatorId);
}

/**
 * What Flink starts from before it folds in the inputs, for the positions 0 to `maxPosition` in that order, each with 0 to
 * {@link MAX_CHAINABLE_OUTPUTS} chainable outputs.
 */
export function localHashes(maxPosition: number): Uint8Array[] {
  const hashes: Uint8Array[] = [];
  for (let position = 0; position <= maxPosition; position++) {
    for (let outputs = 0; outputs <= MAX_CHAINABLE_OUTPUTS; outputs++) hashes.push(localHash(position, outputs));
  }
  return hashes;
}

/** The hash of the position, as a little-endian int, once for the operator and once for each chainable output. */
function localHash(position: number, chainableOutputs: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4 * (chainableOutputs + 1)));
  for (let at = 0; at < bytes.byteLength; at += 4) bytes.setInt32(at, position, true);
  return murmur3x64128(new Uint8Array(bytes.buffer));
}

/** The hash with one more input in it: each byte times 37, XOR that of the input. */
export function foldInput(hash: Uint8Array, input: Uint8Array): Uint8Array {
  return hash.map((byte, i) => (byte * 37) ^ (input[i] ?? 0));
}

/** 32 lower-case hex digits. */
export function formatOperatorId(id: Uint8Array): string {
  return Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The 16 bytes of 32 hex digits. */
export function parseOperatorId(id: string): Uint8Array {
  return Uint8Array.from({ length: ID_BYTES }, (_, i) => Number.parseInt(id.slice(2 * i, 2 * i + 2), 16));
}
