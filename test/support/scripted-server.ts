/** An HTTP server of this process, on the loopback interface, that answers as a test wants it to: also wrongly, or not at all. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';

/** A request that came. */
export interface ScriptedRequest {
  readonly method: string;
  /** Path as it was sent, and its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What to answer. */
export interface ScriptedAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Bytes of the body after which the connection is cut; its length was announced whole. */
  readonly cutAfter?: number;
}

/** Answers a request; undefined: the connection is cut without a word. */
export type Script = (request: ScriptedRequest) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** See the file comment. */
export interface ScriptedServer {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** All requests so far. */
  readonly requests: readonly ScriptedRequest[];
  close(): Promise<void>;
}

/** Starts a server; the caller closes it. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://localhost');
    const request: ScriptedRequest = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    };
    requests.push(request);
    const answer = await script(request);
    if (answer === undefined) {
      incoming.socket.destroy();
      return;
    }
    const body = Buffer.from(answer.body ?? '');
    // A length of its own, as answers to HEAD have it, is left alone.
    outgoing.writeHead(answer.status ?? 200, { 'content-length': body.length, ...answer.headers });
    if (answer.cutAfter === undefined) outgoing.end(request.method === 'HEAD' ? undefined : body);
    else outgoing.write(body.subarray(0, answer.cutAfter), () => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A server for one test, which closes it. */
export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const server = await startScriptedServer(script);
  onTestFinished(() => server.close());
  return server;
}
