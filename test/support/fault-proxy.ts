/** A proxy between a client and a server that does what networks and stores do on bad days. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request as the proxy sees it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What becomes of a request; undefined: it is passed on. */
export type Fault =
  /** The server never hears of it. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  /** The connection breaks before an answer; the server never hears of it. */
  | { readonly kind: 'reset' }
  /** The server does it, and the connection breaks before its answer arrives. */
  | { readonly kind: 'lose-answer' }
  /** The connection breaks after so many bytes of the body. */
  | { readonly kind: 'cut'; readonly after: number }
  /** The answer comes in small pieces, with a pause before each, in ms. */
  | { readonly kind: 'slow'; readonly pause: number }
  /** No answer ever. */
  | { readonly kind: 'silence' }
  /** The body of the answer becomes another one. */
  | { readonly kind: 'change'; readonly body: (body: string) => string }
  /** Headers of the request become other ones before the server gets it. */
  | { readonly kind: 'request-headers'; readonly headers: (headers: IncomingHttpHeaders) => IncomingHttpHeaders };

/** A proxy that runs. */
export interface FaultProxy {
  readonly endpoint: string;
  /** Every request so far; a test may empty it. */
  readonly requests: SeenRequest[];
  /** Decides on each request; a test sets it. */
  fault: (seen: SeenRequest) => Fault | undefined;
  stop(): Promise<void>;
}

/** Starts a proxy before a server. The host that a client has signed is passed on. */
export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  const target = new URL(endpoint);
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing, target, proxy).catch(() => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${port}`,
    requests: [],
    fault: () => undefined,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

async function handle(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: URL,
  proxy: FaultProxy,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming;
  const body = await collect(incoming);
  const seen: SeenRequest = { method, url, headers, body };
  proxy.requests.push(seen);
  const fault = proxy.fault(seen);
  if (fault?.kind === 'silence') return;
  if (fault?.kind === 'reset') {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (fault?.kind === 'answer') {
    outgoing.writeHead(fault.status, { 'content-type': 'application/xml', ...fault.headers });
    outgoing.end(method === 'HEAD' ? undefined : fault.body);
    return;
  }
  const sent = fault?.kind === 'request-headers' ? fault.headers(headers) : headers;
  const forwarded = request({ host: target.hostname, port: target.port, method, path: url, headers: sent });
  forwarded.end(body);
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  let contents: Buffer = await collect(answer);
  if (fault?.kind === 'lose-answer') {
    incoming.socket.resetAndDestroy();
    return;
  }
  const answerHeaders = { ...answer.headers };
  if (fault?.kind === 'change') {
    contents = Buffer.from(fault.body(contents.toString()));
    delete answerHeaders['transfer-encoding'];
    answerHeaders['content-length'] = String(contents.byteLength);
  }
  outgoing.writeHead(answer.statusCode ?? 500, answerHeaders);
  if (method === 'HEAD') outgoing.end();
  else if (fault?.kind === 'cut') {
    outgoing.write(contents.subarray(0, fault.after), () => incoming.socket.resetAndDestroy());
  } else if (fault?.kind === 'slow') {
    for (let at = 0; at < contents.length; at += Math.ceil(contents.length / 5)) {
      await sleep(fault.pause);
      outgoing.write(contents.subarray(at, at + Math.ceil(contents.length / 5)));
    }
    outgoing.end();
  } else outgoing.end(contents);
}

async function collect(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A fault for the first `count` requests that a condition holds for. */
export function firstTimes(
  count: number,
  condition: (seen: SeenRequest) => boolean,
  fault: Fault,
): (seen: SeenRequest) => Fault | undefined {
  let left = count;
  return (seen) => {
    if (left === 0 || !condition(seen)) return undefined;
    left -= 1;
    return fault;
  };
}
