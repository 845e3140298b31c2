/** A body of two parts, `multipart/related`: what an object is described as, and its bytes. */
import { randomBytes } from 'node:crypto';

/** See the file comment. */
export interface MultipartBody {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Copies the bytes once. */
export function multipartBody(description: Readonly<Record<string, unknown>>, bytes: Uint8Array): MultipartBody {
  // 128 bits that nobody knows beforehand: the bytes cannot hold them by design.
  const boundary = randomBytes(16).toString('hex');
  const front = `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(description)}\r\n--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return {
    contentType: `multipart/related; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(front, 'utf8'), bytes, Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1')]),
  };
}
