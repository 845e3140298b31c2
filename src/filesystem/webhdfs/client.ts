/**
 * Requests of the WebHDFS REST interface: to the name node that is active, by its redirects to data nodes, again where that
 * may help. Origin: Hadoop `WebHdfsFileSystem`; the interface is that of its `WebHDFS.md`.
 */
import { InvalidPathError } from '../../errors.js';
import type { Path } from '../path.js';
import type { StoreRequests } from '../requests.js';
import { TransientFailure } from '../requests.js';
import type { Answer, Exchange, RequestBody } from './http.js';
import { exchange, readText, upload } from './http.js';
import type { NameNodes } from './name-nodes.js';
import { ConnectionFailure, parseRemoteFailure, RemoteFailure } from './remote-failure.js';

/** Who asks. Everything here may be secret. */
export interface Identity {
  /** Parameters of every request to a name node: `user.name`, or `delegation`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** For the servers of the configuration alone, never for a data node elsewhere. */
  readonly headers: Readonly<Record<string, string>>;
  /** What must never be printed. */
  readonly secrets: readonly string[];
}

/** Parameters of an operation besides `op`. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Settings of a {@link WebHdfsClient}. */
export interface ClientOptions {
  readonly nameNodes: NameNodes;
  readonly identity: Identity;
  readonly requests: StoreRequests;
  /** Longest silence of a server, in ms; default a minute. Data nodes get five times that. */
  readonly timeout?: number | undefined;
}

/** An operation on a path. */
export interface Operation {
  readonly method: Exchange['method'];
  readonly op: string;
  readonly path: Path;
  readonly parameters?: Parameters;
  readonly signal?: AbortSignal | undefined;
}

const MINUTE = 60_000;
const DATA_PATIENCE = 5;
const MOST_REDIRECTS = 5;

/** See the file comment. Failures are {@link RemoteFailure} and {@link ConnectionFailure}, for `toCkptError`. */
export class WebHdfsClient {
  readonly #options: ClientOptions;
  readonly #timeout: number;
  #clock: { readonly at: number; readonly offset: number } | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#timeout = options.timeout ?? MINUTE;
  }

  /** Bounds and repeats all work of this store. */
  get requests(): StoreRequests {
    return this.#options.requests;
  }

  /** How far the clock of the name node is ahead of this one, in ms, by its latest answer; undefined if that is too old. */
  get clockOffset(): number | undefined {
    const { at, offset } = this.#clock ?? { at: 0, offset: undefined };
    return Date.now() - at < MINUTE ? offset : undefined;
  }

  /** The answer of an operation that may be made any number of times. JSON; undefined if it is empty. */
  query(operation: Operation): Promise<unknown> {
    return this.requests.run(describe(operation), () => this.once(operation), operation.signal);
  }

  /**
   * Makes a change that must not be made twice. Where an answer was lost, a look decides before it is made again.
   * @param make calls {@link once}
   * @param judge what the change has come to, by what is there now; undefined: it did not happen
   */
  async change<T>(
    operation: Pick<Operation, 'op' | 'path'>,
    make: () => Promise<T>,
    judge: () => Promise<T | undefined>,
  ): Promise<T> {
    let isLost = false;
    try {
      return await this.requests.run(describe(operation), async () => {
        const settled = isLost ? await judge() : undefined;
        if (settled !== undefined) return settled;
        try {
          return await make();
        } catch (error) {
          isLost ||= error instanceof TransientFailure;
          throw error;
        }
      });
    } catch (error) {
      // The last attempt may be the one that was carried out.
      const settled = isLost ? await judge().catch(() => undefined) : undefined;
      if (settled === undefined) throw error;
      return settled;
    }
  }

  /**
   * An operation of the name node, made once (at each name node, until one is active).
   * @throws TransientFailure if another attempt may help
   */
  async once(operation: Operation): Promise<unknown> {
    const answer = await this.#askNameNodes(operation);
    const text = await settling(() => readText(answer));
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new TransientFailure(new ConnectionFailure('the answer is no JSON, or only a part of it', true));
    }
  }

  /**
   * Starts to read a file, once.
   * @returns the pieces of exactly `length` bytes from `offset` at most: a file may have less, a connection break
   */
  async *read(
    path: Path,
    offset: number,
    length: number,
    options: { readonly signal?: AbortSignal | undefined; readonly avoid?: DataNodes } = {},
  ): AsyncGenerator<Uint8Array, void> {
    const { signal, avoid } = options;
    const parameters = { offset, length, excludedatanodes: avoid?.parameter };
    const operation: Operation = { method: 'GET', op: 'OPEN', path, parameters, signal };
    const first = await this.#askNameNodes(operation).catch((error: unknown) => {
      // A name node that knows no other data node than those to avoid fails.
      avoid?.clear();
      throw error;
    });
    const answer = isRedirect(first) ? await this.#followForData(operation, first, avoid) : first;
    const pieces = answer.body();
    try {
      for (let read = 0; read < length; ) {
        const next = await settling(() => pieces.next());
        if (next.done === true) return;
        const piece = next.value.subarray(0, length - read);
        read += piece.byteLength;
        yield piece;
      }
    } finally {
      await pieces.return(undefined);
      await answer.cancel();
    }
  }

  /**
   * Creates a file with the bytes of a body, once. Not atomic: after a failure a part may be there.
   * @param body makes the bytes; what it throws is thrown
   */
  async create(
    path: Path,
    parameters: Parameters,
    body: () => RequestBody | Promise<RequestBody>,
    signal?: AbortSignal,
  ): Promise<void> {
    const operation: Operation = { method: 'PUT', op: 'CREATE', path, parameters, signal };
    const first = await this.#askNameNodes(operation);
    const bytes = await body();
    const answer = isRedirect(first)
      ? await this.#followForData(operation, first, undefined, bytes)
      : // A gateway without redirects takes the bytes itself, and has now made an empty file.
        await this.#askNameNodes({ ...operation, parameters: { ...parameters, data: true } }, bytes);
    await settling(() => readText(answer));
  }

  /** Takes everything that must not be seen out of a text. */
  clean(text: string): string {
    const { secrets } = this.#options.identity;
    const replaced = secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '******')), text);
    return replaced.replaceAll(/\b(delegation|token|password)=[^&\s"']+/g, '$1=******');
  }

  /** Asks the active name node: one that stands by, or is not there, is left for the next one. */
  async #askNameNodes(operation: Operation, body?: RequestBody): Promise<Answer> {
    const { nameNodes, identity } = this.#options;
    for (let left = nameNodes.bases.length; ; left--) {
      const base = nameNodes.current;
      try {
        const answer = await this.#timed(() =>
          this.#send(operation, this.#url(base, operation), identity.headers, body),
        );
        if (answer.status < 300 || isRedirect(answer)) return answer;
        await this.#fail(answer);
      } catch (error) {
        const failure = error instanceof TransientFailure ? error.cause : error;
        if (mayBeOther(failure)) {
          nameNodes.leave(base);
          // A body can be sent only once.
          if (left > 1 && body === undefined) continue;
        }
        throw failure instanceof ConnectionFailure && failure === error ? new TransientFailure(failure) : error;
      }
    }
  }

  /** Follows a redirect to where the data is. A data node that is not there is avoided in the next attempt. */
  async #followForData(operation: Operation, first: Answer, avoid?: DataNodes, body?: RequestBody): Promise<Answer> {
    let answer = first;
    let url = this.#url(this.#options.nameNodes.current, operation);
    for (let count = 0; isRedirect(answer); count++) {
      if (count === MOST_REDIRECTS) throw new ConnectionFailure('there are too many redirects', false);
      url = withOwnPath(redirectOf(answer, url), operation.path);
      await answer.cancel();
      // Only a gateway that lives at one address gets the credentials again.
      const isGateway = this.#options.nameNodes.bases.some((base) => new URL(base).origin === url.origin);
      try {
        answer = await this.#send(operation, url, isGateway ? this.#options.identity.headers : {}, body);
      } catch (error) {
        if (!(error instanceof ConnectionFailure)) throw error;
        avoid?.add(url.host);
        throw new TransientFailure(error);
      }
    }
    if (answer.status >= 300) await this.#fail(answer);
    return answer;
  }

  /** Notes what the `Date` of an answer says of the clock there. */
  async #timed(send: () => Promise<Answer>): Promise<Answer> {
    const start = Date.now();
    const answer = await send();
    const date = Date.parse(answer.header('date') ?? '');
    // It tells the second that has begun.
    if (!Number.isNaN(date)) this.#clock = { at: Date.now(), offset: date + 500 - (start + Date.now()) / 2 };
    return answer;
  }

  #send(
    { method, op, signal }: Operation,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: RequestBody | undefined,
  ): Promise<Answer> {
    const timeout = this.#timeout * (body !== undefined || op === 'OPEN' ? DATA_PATIENCE : 1);
    const request = { method, url, headers, signal, timeout };
    if (body === undefined) return exchange(request);
    return upload({ ...request, headers: { ...headers, 'content-type': 'application/octet-stream' } }, body);
  }

  async #fail(answer: Answer): Promise<never> {
    const body = await settling(() => readText(answer));
    const failure = parseRemoteFailure(answer.status, body, (text) => this.clean(text));
    if (!failure.isTransient) throw failure;
    throw new TransientFailure(failure, { retryAfter: retryAfter(answer) });
  }

  #url(base: string, { op, path, parameters }: Operation): URL {
    const url = new URL(base + encodePath(path));
    url.searchParams.set('op', op);
    for (const [name, value] of Object.entries({ ...parameters, ...this.#options.identity.parameters })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }
}

/** Data nodes that did not answer, for the attempts of one request. */
export class DataNodes {
  readonly #hosts = new Set<string>();

  add(host: string): void {
    // If it was tried although it had been avoided, or is tried in turn, there may be no other one.
    if (this.#hosts.has(host)) this.#hosts.clear();
    else this.#hosts.add(host);
  }

  /** Forgets them: a name node that knows no others fails. */
  clear(): void {
    this.#hosts.clear();
  }

  /** As the name node takes it; undefined if there are none. */
  get parameter(): string | undefined {
    return this.#hosts.size === 0 ? undefined : [...this.#hosts].join(',');
  }
}

/**
 * A path as a URL has it.
 * @throws InvalidPathError if HDFS has no such name
 */
export function encodePath(path: Path): string {
  if (path.path === '' || path.path === '/') return '/';
  const names = path.path.replace(/^\/|\/$/g, '').split('/');
  return names.map((name) => `/${encodeName(name, path)}`).join('');
}

function encodeName(name: string, path: Path): string {
  if (name === '' || name === '.' || name === '..' || name.includes(':')) {
    throw new InvalidPathError(path.toString(), `HDFS has no name "${name}"`);
  }
  try {
    return encodeURIComponent(name);
  } catch {
    throw new InvalidPathError(path.toString(), 'HDFS has no names with half a character');
  }
}

function isRedirect({ status, header }: Answer): boolean {
  return status >= 300 && status < 400 && header('location') !== undefined;
}

function redirectOf(answer: Answer, from: URL): URL {
  const location = answer.header('location') ?? '';
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConnectionFailure(`${from.host}: it redirects to what is no HTTP address`, false);
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw new ConnectionFailure(
      `${from.host}: it redirects from https to ${url.origin}, which would tell secrets`,
      false,
    );
  }
  return url;
}

/**
 * The redirects of a name node have their path in Unicode's form C (by `java.net.URI`), which may be the name of another
 * file: the path is put back as it was.
 */
function withOwnPath(url: URL, path: Path): URL {
  const [, front, name] = /^(\/webhdfs\/v\d+)(\/.*)$/.exec(url.pathname) ?? [];
  const own = encodePath(path);
  if (front === undefined || name === undefined || name === own) return url;
  try {
    if (decodeURIComponent(name) !== path.path.normalize('NFC')) return url;
  } catch {
    return url;
  }
  const fixed = new URL(url);
  fixed.pathname = front + own;
  return fixed;
}

function mayBeOther(failure: unknown): boolean {
  return failure instanceof RemoteFailure
    ? failure.isStandby
    : failure instanceof ConnectionFailure && !failure.wasSent;
}

/** What breaks while it is under way may work the next time. */
async function settling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConnectionFailure ? new TransientFailure(error) : error;
  }
}

function retryAfter({ header }: Answer): number | undefined {
  const seconds = Number(header('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function describe({ op, path }: Pick<Operation, 'op' | 'path'>): string {
  return `${op} ${path}`;
}
