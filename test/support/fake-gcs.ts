/**
 * Google Cloud Storage in memory, as far as the adapter asks for it: what the emulators do not do is done here by the book
 * (conditions, generations, copies in several steps).
 */
import { createHash } from 'node:crypto';
import type { Script, ScriptedAnswer, ScriptedRequest } from './scripted-server.js';

interface FakeObject {
  readonly bytes: Buffer;
  readonly generation: number;
  readonly updated: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly kmsKeyName: string | undefined;
}

/** Objects that one request may put together. */
const MOST_SOURCES = 32;

/** See the file comment. Buckets need not be made, but for `missing` there is every one. */
export class FakeGcs {
  readonly objects = new Map<string, FakeObject>();
  /** Bytes that one step of a copy gets on. */
  rewriteBytes = Number.POSITIVE_INFINITY;
  #generation = 1_700_000_000_000_000;
  readonly #rewrites = new Map<string, number>();

  /** Puts an object there. */
  write(name: string, bytes: Uint8Array, more: Partial<FakeObject> = {}): FakeObject {
    const object = {
      bytes: Buffer.from(bytes),
      generation: ++this.#generation,
      updated: new Date().toISOString(),
      metadata: undefined,
      kmsKeyName: undefined,
      ...more,
    };
    this.objects.set(name, object);
    return object;
  }

  /** Answers a request. */
  readonly answer: Script = (request) => {
    const [, upload, , bucket, name, verb, , target] =
      /^(\/upload)?\/storage\/v1\/b\/(([^/]+))\/o(?:\/([^/]+)(?:\/(compose|rewriteTo)(\/b\/[^/]+\/o\/([^/]+))?)?)?$/.exec(
        request.path,
      ) ?? [];
    if (bucket === undefined || bucket === 'missing')
      return refuse(404, 'notFound', 'The specified bucket does not exist.');
    if (upload !== undefined) return this.#insert(request);
    if (name === undefined) return this.#list(request);
    const key = decodeURIComponent(name);
    if (verb === 'compose') return this.#compose(request, key);
    if (verb === 'rewriteTo') return this.#rewrite(request, key, decodeURIComponent(target ?? ''));
    const object = this.objects.get(key);
    if (object === undefined) return refuse(404, 'notFound', `No such object: ${bucket}/${key}`);
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    return request.query.get('alt') === 'media' ? read(request, object) : json(describe(key, object));
  };

  #insert({ query, headers, body }: ScriptedRequest): ScriptedAnswer {
    const boundary = /boundary=(\w+)/.exec(headers['content-type'] ?? '')?.[1] ?? '';
    const parts = splitMultipart(body, boundary);
    const { name, metadata } = JSON.parse(parts[0]?.toString('utf8') ?? '{}');
    if (this.#isRefused(name, query)) return refuse(412, 'conditionNotMet', 'At least one precondition failed');
    return json(describe(name, this.write(name, parts[1] ?? Buffer.alloc(0), { metadata })));
  }

  #compose({ query, body }: ScriptedRequest, key: string): ScriptedAnswer {
    const { sourceObjects, destination } = JSON.parse(body.toString('utf8'));
    if (sourceObjects.length > MOST_SOURCES) return refuse(400, 'invalid', 'too many sources');
    const sources: (FakeObject | undefined)[] = sourceObjects.map(({ name }: { name: string }) =>
      this.objects.get(name),
    );
    if (this.#isRefused(key, query)) return refuse(412, 'conditionNotMet', 'At least one precondition failed');
    if (sources.includes(undefined)) return refuse(404, 'notFound', 'a source is missing');
    const bytes = Buffer.concat(sources.map((source) => source?.bytes ?? Buffer.alloc(0)));
    return json(describe(key, this.write(key, bytes, { metadata: destination.metadata })));
  }

  #rewrite({ query }: ScriptedRequest, from: string, to: string): ScriptedAnswer {
    const source = this.objects.get(from);
    if (source === undefined) return refuse(404, 'notFound', 'no source');
    const wanted = query.get('ifSourceGenerationMatch');
    if (wanted !== null && wanted !== String(source.generation))
      return refuse(412, 'conditionNotMet', 'another source');
    const token = query.get('rewriteToken');
    const done = (token === null ? 0 : (this.#rewrites.get(token) ?? 0)) + this.rewriteBytes;
    if (done < source.bytes.length) {
      const next = createHash('sha256').update(`${from} ${to} ${done}`).digest('hex');
      this.#rewrites.set(next, done);
      return json({ done: false, rewriteToken: next });
    }
    const kmsKeyName = query.get('destinationKmsKeyName') ?? undefined;
    this.write(to, source.bytes, { metadata: source.metadata, kmsKeyName });
    return json({ done: true });
  }

  #list({ query }: ScriptedRequest): ScriptedAnswer {
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter');
    const most = Number(query.get('maxResults') ?? 1000);
    const after = query.get('pageToken');
    const names = [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort(byBytes);
    const items: unknown[] = [];
    const prefixes = new Set<string>();
    let last: string | undefined;
    for (const name of names) {
      const cut = delimiter === null ? -1 : name.indexOf(delimiter, prefix.length);
      const shown = cut === -1 ? name : name.slice(0, cut + 1);
      if (prefixes.has(shown) || (after !== null && byBytes(shown, after) <= 0)) continue;
      if (items.length + prefixes.size === most) return json({ items, prefixes: [...prefixes], nextPageToken: last });
      const object = this.objects.get(name);
      if (cut !== -1) prefixes.add(shown);
      else if (object) items.push(describe(name, object));
      last = shown;
    }
    return json({ items, prefixes: [...prefixes] });
  }

  #isRefused(key: string, query: URLSearchParams): boolean {
    const wanted = query.get('ifGenerationMatch');
    return wanted !== null && Number(wanted) !== (this.objects.get(key)?.generation ?? 0);
  }
}

function read({ query, headers }: ScriptedRequest, object: FakeObject): ScriptedAnswer {
  const wanted = query.get('ifGenerationMatch');
  if (wanted !== null && wanted !== String(object.generation))
    return refuse(412, 'conditionNotMet', 'another generation');
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  const start = Number(first);
  if (start >= object.bytes.length) return refuse(416, 'requestedRangeNotSatisfiable', 'Request range not satisfiable');
  const body = object.bytes.subarray(start, Number(last) + 1);
  return {
    status: 206,
    headers: {
      'x-goog-generation': String(object.generation),
      'content-range': `bytes ${start}-${start + body.length - 1}/${object.bytes.length}`,
    },
    body,
  };
}

function describe(name: string, { bytes, generation, updated, metadata, kmsKeyName }: FakeObject): object {
  return { name, size: String(bytes.length), generation: String(generation), updated, metadata, kmsKeyName };
}

function json(value: unknown): ScriptedAnswer {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** An answer as Google gives it when it refuses. */
export function refuse(code: number, reason: string, message: string): ScriptedAnswer {
  return { ...json({ error: { code, message, errors: [{ message, reason, domain: 'global' }] } }), status: code };
}

function splitMultipart(body: Buffer, boundary: string): Buffer[] {
  const parts: Buffer[] = [];
  const line = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(line); at !== -1; ) {
    const next = body.indexOf(line, at + line.length);
    if (next === -1) break;
    const start = body.indexOf('\r\n\r\n', at) + 4;
    parts.push(body.subarray(start, next - 2));
    at = next;
  }
  return parts;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
