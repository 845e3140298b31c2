import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fileSink, Output, OutputClosed, streamSink } from '../../../src/cli/output.js';
import { IoError } from '../../../src/errors.js';
import { tempDirectory } from '../../support/temp.js';

function collector() {
  const chunks: string[] = [];
  const output = new Output(async (chunk) => {
    chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1'));
  });
  return { chunks, output };
}

function failing(code: string): Output {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  });
  return new Output(streamSink(stream));
}

describe('Output', () => {
  it('puts small chunks together and keeps their order', async () => {
    const { chunks, output } = collector();
    expect(output.started).toBe(false);
    await output.write('a');
    await output.write('b');
    await output.write(Uint8Array.of(0xff));
    await output.write('c');
    expect(output.started).toBe(true);
    expect(chunks).toEqual([]);
    await output.flush();
    expect(chunks).toEqual(['ab', '\u00ff', 'c']);
  });

  it('writes by itself when the event loop turns', async () => {
    const { chunks, output } = collector();
    await output.write('a line\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(chunks).toEqual(['a line\n']);
  });

  it('waits for the sink when much is written', async () => {
    let release = (): void => undefined;
    const output = new Output(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    let taken = false;
    const written = output.write('x'.repeat(100_000)).then(() => {
      taken = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(false);
    release();
    await written;
    expect(taken).toBe(true);
  });

  it.each(['EPIPE', 'ERR_STREAM_DESTROYED'])('takes %s for a reader that left, ever after', async (code) => {
    const output = failing(code);
    await output.write('a');
    await expect(output.flush()).rejects.toThrow(OutputClosed);
    expect(output.closed).toBe(true);
    await expect(output.write('b')).rejects.toThrow(OutputClosed);
    await expect(output.flush()).rejects.toThrow(OutputClosed);
  });

  it('takes anything else for a failure', async () => {
    const output = failing('ENOSPC');
    await output.write('a');
    await expect(output.flush()).rejects.toThrow(IoError);
    await expect(output.write('b')).rejects.toThrow('standard output: writing failed: write ENOSPC');
    expect(output.closed).toBe(false);
  });
});

describe('sinks', () => {
  it('write text as UTF-8, and bytes as they are', async () => {
    const stream = new PassThrough();
    const sink = streamSink(stream);
    await sink('窓');
    await sink(Uint8Array.of(0, 255));
    expect(stream.read()).toEqual(Buffer.from([0xe7, 0xaa, 0x93, 0, 255]));

    const path = join(await tempDirectory(), 'out');
    const descriptor = openSync(path, 'w');
    const file = fileSink(descriptor);
    await file('窓');
    await file(Uint8Array.of(0, 255));
    closeSync(descriptor);
    expect(readFileSync(path)).toEqual(Buffer.from([0xe7, 0xaa, 0x93, 0, 255]));
  });

  it('report a descriptor that takes nothing', async () => {
    const path = join(await tempDirectory(), 'out');
    const descriptor = openSync(path, 'w');
    closeSync(descriptor);
    await expect(fileSink(descriptor)('a')).rejects.toThrow(IoError);
  });
});
