/**
 * WebHDFS in this process, for faults that a real one does not have on demand: two HTTP servers, one as name node and one as
 * data node, over a tree in memory. What it answers is what Hadoop 3.4.2 was seen to answer.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What happens to a request instead of, or after, what should. */
export type Fault =
  /** An answer like this one; without an exception one that is not of WebHDFS. */
  | { readonly kind: 'answer'; readonly status: number; readonly exception?: string; readonly message?: string }
  /** The connection breaks before anything was done. */
  | { readonly kind: 'reset' }
  /** The connection breaks after everything was done. */
  | { readonly kind: 'lost' }
  /** Only this many bytes of the body come. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** Nothing comes for this long, in ms. */
  | { readonly kind: 'silence'; readonly milliseconds: number }
  /** The answer sends the client there. */
  | { readonly kind: 'redirect'; readonly location: string };

/** A request that has come in. */
export interface SeenRequest {
  readonly node: 'name' | 'data';
  readonly method: string;
  readonly op: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** How the server behaves. */
export interface FakeOptions {
  readonly fault?: (request: SeenRequest) => Fault | undefined;
  /** As HttpFS and Knox: one server for both steps, the rename of old, no inode ids. */
  readonly gateway?: boolean;
  /** Entries of a page, default 100. */
  readonly pageSize?: number;
}

interface Node {
  readonly id: number;
  readonly children?: Map<string, Node>;
  bytes: Uint8Array;
  modificationTime: number;
  permission: string;
}

interface Place {
  readonly parent: Node;
  readonly name: string;
}

class Refusal extends Error {
  constructor(
    readonly exception: string,
    message: string,
    readonly status = 403,
  ) {
    super(message);
  }
}

/** See the file comment. Ends with the test, or by {@link close}. */
export class FakeWebHdfs {
  readonly seen: SeenRequest[] = [];
  fault: FakeOptions['fault'];
  readonly #options: FakeOptions;
  readonly #name: Server;
  readonly #data: Server;
  #nextId = 16386;
  readonly #root: Node = this.#directory();

  private constructor(options: FakeOptions) {
    this.#options = options;
    this.fault = options.fault;
    const serve = (node: SeenRequest['node']) => (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(node, request, response).catch(() => response.destroy());
    };
    this.#name = createServer(serve('name'));
    this.#data = createServer(serve('data'));
    // A data node wants every body, asked or not.
    this.#data.on('checkContinue', serve('data'));
    this.#name.on('checkContinue', serve('name'));
  }

  static async start(options: FakeOptions = {}): Promise<FakeWebHdfs> {
    const fake = new FakeWebHdfs(options);
    for (const server of [fake.#name, fake.#data]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    return fake;
  }

  /** Like {@link start}, for one test. */
  static async forTest(options: FakeOptions = {}): Promise<FakeWebHdfs> {
    const fake = await FakeWebHdfs.start(options);
    onTestFinished(() => fake.close());
    return fake;
  }

  /** Host and port of the name node. */
  get address(): string {
    return `127.0.0.1:${(this.#name.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const server of [this.#name, this.#data]) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
  }

  /** Shortens a file behind the back of its readers. */
  truncate(path: string, size: number): void {
    const node = this.#at(path);
    node.bytes = node.bytes.slice(0, size);
  }

  /** Puts another file in the place of one. */
  replace(path: string, bytes: Uint8Array): void {
    const { parent, name } = this.#place(path);
    parent.children?.set(name, this.#file(bytes));
  }

  async #serve(node: SeenRequest['node'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake');
    const seen: SeenRequest = {
      node,
      method: request.method ?? '',
      op: url.searchParams.get('op') ?? '',
      path: decodeURIComponent(url.pathname.replace(/^\/webhdfs\/v1/, '')) || '/',
      query: url.searchParams,
      headers: request.headers,
    };
    this.seen.push(seen);
    const fault = this.fault?.(seen);
    if (fault?.kind === 'reset') return void request.socket.destroy();
    if (fault?.kind === 'silence') await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (fault?.kind === 'redirect') return void response.writeHead(307, { location: fault.location }).end();
    if (fault?.kind === 'answer') return answerFault(response, fault);
    const isData = node === 'data' || seen.query.get('data') === 'true';
    if (isData && seen.method === 'PUT') response.writeContinue();
    const body = await collect(request);
    let result: { status: number; body: Uint8Array | string; location?: string };
    try {
      result = this.#act(seen, isData, body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { exception, message, status } = error;
      return answerFault(response, { kind: 'answer', status, exception, message });
    }
    if (fault?.kind === 'lost') return void request.socket.destroy();
    const bytes = Buffer.from(result.body);
    const headers = { 'content-length': bytes.byteLength, ...(result.location && { location: result.location }) };
    response.writeHead(result.status, headers);
    if (fault?.kind === 'cut' && fault.bytes < bytes.byteLength) {
      response.write(bytes.subarray(0, fault.bytes), () => setTimeout(() => request.socket.destroy(), 5));
      return;
    }
    response.end(bytes);
  }

  #act(
    { op, path, query }: SeenRequest,
    isData: boolean,
    body: Uint8Array,
  ): { status: number; body: Uint8Array | string; location?: string } {
    const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) });
    switch (op) {
      case 'GETFILESTATUS':
        return json({ FileStatus: this.#status('', this.#at(path)) });
      case 'LISTSTATUS_BATCH':
        return json({ DirectoryListing: this.#page(path, query.get('startAfter') ?? '') });
      case 'MKDIRS':
        this.#makeDirectories(path);
        return json({ boolean: true });
      case 'RENAME':
        return this.#rename(path, query.get('destination') ?? '', query.get('renameoptions') ?? '');
      case 'DELETE':
        return json({ boolean: this.#delete(path) });
      case 'OPEN': {
        if (!isData && this.#options.gateway !== true)
          return { status: 307, body: '', location: this.#redirect(path, query) };
        const node = this.#at(path);
        const offset = Number(query.get('offset'));
        if (offset >= node.bytes.byteLength) throw new Refusal('IOException', `Offset=${offset} out of the range`);
        return { status: 200, body: node.bytes.subarray(offset, offset + Number(query.get('length'))) };
      }
      case 'CREATE': {
        if (!isData) return { status: 307, body: '', location: this.#redirect(path, query) };
        this.#create(path, body, query);
        return { status: 201, body: '' };
      }
      default:
        throw new Refusal('IllegalArgumentException', `Invalid value for webhdfs parameter "op": ${op}`, 400);
    }
  }

  #redirect(path: string, query: URLSearchParams): string {
    const server = this.#options.gateway === true ? this.#name : this.#data;
    const name = path.split('/').map(encodeURIComponent).join('/').normalize('NFC');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhdfs/v1${name}?${query}&data=true`;
  }

  #rename(path: string, to: string, options: string): { status: number; body: string } {
    const old = this.#options.gateway === true;
    const refuse = (error: Refusal) => {
      if (old) return { status: 200, body: '{"boolean":false}' };
      throw error;
    };
    const { parent, name } = this.#place(path);
    const node = parent.children?.get(name);
    if (node === undefined) return refuse(new Refusal('FileNotFoundException', 'rename source is not found.', 404));
    let target: Place;
    try {
      target = this.#place(to);
    } catch {
      return refuse(new Refusal('FileNotFoundException', 'rename destination parent not found.', 404));
    }
    const existing = target.parent.children?.get(target.name);
    if (existing?.children !== undefined && old) {
      parent.children?.delete(name);
      existing.children.set(name, node);
      return { status: 200, body: '{"boolean":true}' };
    }
    if (existing !== undefined && (old || options !== 'OVERWRITE' || existing.children !== undefined)) {
      return refuse(new Refusal('FileAlreadyExistsException', 'rename destination already exists'));
    }
    parent.children?.delete(name);
    target.parent.children?.set(target.name, node);
    return { status: 200, body: old ? '{"boolean":true}' : '' };
  }

  #delete(path: string): boolean {
    let place: Place;
    try {
      place = this.#place(path);
    } catch (error) {
      if (error instanceof Refusal && error.exception === 'FileNotFoundException') return false;
      throw error;
    }
    const node = place.parent.children?.get(place.name);
    if (node === undefined) return false;
    if (node.children !== undefined && node.children.size > 0) {
      throw new Refusal('PathIsNotEmptyDirectoryException', `\`${path} is non empty': Directory is not empty`);
    }
    return place.parent.children?.delete(place.name) === true;
  }

  #create(path: string, bytes: Uint8Array, query: URLSearchParams): void {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (query.get('createparent') === 'false') this.#at(parent);
    else this.#makeDirectories(parent);
    const place = this.#place(path);
    const node = this.#file(bytes);
    node.permission = query.get('permission') ?? '644';
    place.parent.children?.set(place.name, node);
  }

  #page(path: string, after: string): unknown {
    const node = this.#at(path);
    const statuses =
      node.children === undefined
        ? [this.#status('', node)]
        : [...node.children].map(([name, child]) => this.#status(name, child));
    const rest = statuses
      .filter(({ pathSuffix }) => pathSuffix === '' || Buffer.compare(Buffer.from(pathSuffix), Buffer.from(after)) > 0)
      .sort((a, b) => Buffer.compare(Buffer.from(a.pathSuffix), Buffer.from(b.pathSuffix)));
    const page = rest.slice(0, this.#options.pageSize ?? 100);
    return {
      partialListing: { FileStatuses: { FileStatus: page } },
      remainingEntries: rest.length - page.length,
    };
  }

  #status(pathSuffix: string, node: Node) {
    const { id, bytes, modificationTime, permission, children } = node;
    const isFile = children === undefined;
    return {
      ...(this.#options.gateway !== true && { fileId: id }),
      length: bytes.byteLength,
      modificationTime,
      pathSuffix,
      permission,
      type: isFile ? 'FILE' : 'DIRECTORY',
    };
  }

  #makeDirectories(path: string): void {
    let node = this.#root;
    for (const name of namesOf(path)) {
      const { children } = node;
      if (children === undefined) throw new Refusal('ParentNotDirectoryException', `${path} (is not a directory)`);
      const next = children.get(name) ?? this.#directory();
      children.set(name, next);
      node = next;
    }
    if (node.children === undefined)
      throw new Refusal('FileAlreadyExistsException', `Path is not a directory: ${path}`);
  }

  #at(path: string): Node {
    let node: Node | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (node.children === undefined) throw new Refusal('AccessControlException', `${path} (is not a directory)`);
      node = node.children.get(name);
      if (node === undefined)
        throw new Refusal('FileNotFoundException', `File does not exist: ${path}\n\tat Java`, 404);
    }
    return node;
  }

  #place(path: string): Place {
    const names = namesOf(path);
    const parent = this.#at(`/${names.slice(0, -1).join('/')}`);
    if (parent.children === undefined) throw new Refusal('AccessControlException', `${path} (is not a directory)`);
    return { parent, name: names.at(-1) ?? '' };
  }

  #directory(): Node {
    return {
      id: this.#nextId++,
      children: new Map(),
      bytes: new Uint8Array(0),
      modificationTime: Date.now(),
      permission: '755',
    };
  }

  #file(bytes: Uint8Array): Node {
    return { id: this.#nextId++, bytes, modificationTime: Date.now(), permission: '644' };
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

function answerFault(response: ServerResponse, fault: Extract<Fault, { kind: 'answer' }>): void {
  const { status, exception, message } = fault;
  const body =
    exception === undefined
      ? `<html>${message ?? 'no such thing'}</html>`
      : JSON.stringify({ RemoteException: { exception, javaClassName: `org.example.${exception}`, message } });
  response.writeHead(status, { 'content-type': exception === undefined ? 'text/html' : 'application/json' }).end(body);
}

async function collect(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
