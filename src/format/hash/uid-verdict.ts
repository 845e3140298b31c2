/** Whether the user set a uid for an operator, as far as a metadata file shows it. */
import {
  foldInput,
  formatOperatorId,
  isGeneratedSourceId,
  localHashes,
  MAX_CHAINABLE_OUTPUTS,
  MAX_SOURCE_POSITION,
  operatorIdOfUid,
  parseOperatorId,
} from './operator-id.js';

/** What a metadata file says about one operator. */
export interface UidEvidence {
  /** Version of the metadata file. */
  readonly version: number;
  /** The uid stored with the operator; null or empty if there is none, as in every file before version 5. */
  readonly uid: string | null;
  /**
   * The name stored with the operator, if the caller has it. Flink stores one for every operator of a running job: null or
   * empty from version 5 on means that a missing uid may have been lost, so that only the id can tell.
   */
  readonly name?: string | null;
  /** 32 lower-case hex digits. */
  readonly operatorId: string;
  /** The ids of all operators of the file. Pass the same array for each of them: what is made of it is kept. */
  readonly allIds: readonly string[];
}

/**
 * `set`: the stored uid has this id. `not-set`: certainly none. `mismatch`: there is a uid, but it is not where the id comes
 * from. `unknown`: nothing tells.
 */
export type UidVerdict = 'set' | 'not-set' | 'mismatch' | 'unknown';

/**
 * Tells whether the user set a uid for an operator. Where the file stores none, the id is compared with those that Flink makes
 * of a position in the graph and of one or two other ids in the file.
 *
 * Limits: the first 21 positions, or as many as there are operators, up to 201; 20 chainable outputs; 2,000 operators, above
 * which only sources are found; in large jobs fewer positions for operators with two inputs; none with more inputs.
 */
export function classifyUid(evidence: UidEvidence): UidVerdict {
  const { uid, operatorId, allIds } = evidence;
  if (uid !== null && uid !== '') return operatorIdOfUid(uid) === operatorId ? 'set' : 'mismatch';
  const lostWithName = evidence.name === null || evidence.name === '';
  if (evidence.version >= 5 && !lostWithName) return 'not-set';
  if (isGeneratedSourceId(operatorId)) return 'not-set';
  let generated = generatedIds.get(allIds);
  if (generated === undefined) {
    generated = findGeneratedIds(allIds);
    generatedIds.set(allIds, generated);
  }
  return generated.has(operatorId) ? 'not-set' : 'unknown';
}

const generatedIds = new WeakMap<readonly string[], ReadonlySet<string>>();

const ID_PATTERN = /^[0-9a-f]{32}$/;

/** In larger files only sources are found: the search takes time in proportion to the square of this. */
const MAX_OPERATORS = 2000;
/** Positions up to the number of operators are tried, but none beyond this. */
const MAX_POSITION = 200;
/** Bound of the memory for operators with two inputs, in combinations of a local hash and a first input. */
const MAX_COMBINATIONS = 300_000;

/** Two ids of which one was made from the other, at this position. */
interface Link {
  readonly other: number;
  readonly position: number;
}

/**
 * The ids of a file that Flink certainly made of others in it.
 *
 * The last step of Flink's fold is an XOR with the last input, so the test cannot tell a child from its parent: both are
 * linked, and one of them was made from the other. But an operator gets its id after its inputs got theirs, at a later
 * position, and has one last input only. So linked ids form trees that grow from one id with a uid (or of unknown origin),
 * and positions rise away from it. Where two ids could be the root, both stay open.
 */
function findGeneratedIds(allIds: readonly string[]): ReadonlySet<string> {
  const ids = [...new Set(allIds)].filter((id) => ID_PATTERN.test(id));
  const generated = new Set<string>();
  if (ids.length > MAX_OPERATORS) return generated;
  const locals = localHashes(Math.max(MAX_SOURCE_POSITION, Math.min(ids.length, MAX_POSITION)));
  const sources = new Set(locals.map(formatOperatorId));
  for (const id of ids) {
    if (sources.has(id)) generated.add(id);
  }
  const links = findLinks(ids.map(parseOperatorId), locals);
  const seen = new Set<number>();
  for (const start of links.keys()) {
    if (seen.has(start)) continue;
    const tree = walk(links, start);
    for (const node of tree) seen.add(node);
    const sure = [...tree].filter((node) => sources.has(ids[node] ?? ''));
    const roots = sure.length > 0 ? sure : possibleRoots(tree, links);
    if (roots.length === 0) continue;
    for (const node of tree) {
      const id = ids[node];
      if (id !== undefined && !roots.includes(node)) generated.add(id);
    }
  }
  return generated;
}

type Links = ReadonlyMap<number, readonly Link[]>;

/** Every id that hangs together with this one. */
function walk(links: Links, start: number): ReadonlySet<number> {
  const nodes = new Set([start]);
  for (const node of nodes) {
    for (const { other } of links.get(node) ?? []) nodes.add(other);
  }
  return nodes;
}

function possibleRoots(tree: ReadonlySet<number>, links: Links): readonly number[] {
  // The lowest position belongs to a child of the root.
  let lowest = Number.POSITIVE_INFINITY;
  let ends: number[] = [];
  for (const node of tree) {
    for (const { other, position } of links.get(node) ?? []) {
      if (position >= lowest) continue;
      lowest = position;
      ends = [node, other];
    }
  }
  return ends.filter((root) => positionsRise(links, root));
}

function positionsRise(links: Links, root: number): boolean {
  const positions = new Map([[root, -1]]);
  for (const [node, own] of positions) {
    for (const { other, position } of links.get(node) ?? []) {
      if (positions.has(other)) continue;
      if (position <= own) return false;
      positions.set(other, position);
    }
  }
  return true;
}

/**
 * Compares all pairs. If one id is a fold whose last input is the other, then their XOR is 37 times, byte by byte, what was
 * there before that step. These products are looked up by their first 32 bits; where two agree in them, the first one stays,
 * so that crafted ids cannot make this slow.
 */
function findLinks(ids: readonly Uint8Array[], locals: readonly Uint8Array[]): Links {
  const heads = ids.map(first32);
  const beforeLastStep = hashesByProduct(locals, heads);
  const links = new Map<number, Link[]>();
  ids.forEach((a, i) => {
    for (let j = 0; j < i; j++) {
      const found = beforeLastStep.get(((heads[i] ?? 0) ^ (heads[j] ?? 0)) >>> 0);
      const b = ids[j];
      if (found === undefined || b === undefined) continue;
      const local = locals[found % locals.length];
      const first = ids[Math.floor(found / locals.length) - 1];
      if (local === undefined) continue;
      const hash = first === undefined ? local : foldInput(local, first);
      if (!foldInput(hash, b).every((byte, k) => byte === a[k])) continue;
      const position = Math.floor((found % locals.length) / (MAX_CHAINABLE_OUTPUTS + 1));
      addLink(links, i, { other: j, position });
      addLink(links, j, { other: i, position });
    }
  });
  return links;
}

function addLink(links: Map<number, Link[]>, node: number, link: Link): void {
  const known = links.get(node);
  if (known === undefined) links.set(node, [link]);
  else known.push(link);
}

/**
 * Every hash that Flink can have before the last step, by the first 32 bits of its product with 37: the local hashes as their
 * index, then those with the n-th id as first input as n + 1 times the number of local hashes, plus the index.
 */
function hashesByProduct(locals: readonly Uint8Array[], heads: readonly number[]): ReadonlyMap<number, number> {
  const hashes = new Map<number, number>();
  const add = (product: number, hash: number) => {
    if (!hashes.has(product)) hashes.set(product, hash);
  };
  const products = locals.map((local) => times37(first32(local)));
  products.forEach(add);
  const tried = products.slice(0, Math.floor(MAX_COMBINATIONS / Math.max(1, heads.length)));
  heads.forEach((head, n) => {
    tried.forEach((product, local) => {
      add(times37(product ^ head), (n + 1) * locals.length + local);
    });
  });
  return hashes;
}

/** 37 times each of the four bytes, modulo 256. */
function times37(bytes: number): number {
  const even = Math.imul(bytes & 0xff00ff, 37) & 0xff00ff;
  const odd = Math.imul((bytes >>> 8) & 0xff00ff, 37) & 0xff00ff;
  return ((odd << 8) | even) >>> 0;
}

function first32(hash: Uint8Array): number {
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0);
}
