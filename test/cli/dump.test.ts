import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
import { fixtureCase, fixtureCases, pointersOf } from '../support/corpus.js';
import { checkpointAt, file, incremental, metadata, operator, operatorId, subtask } from '../support/made-metadata.js';
import { binPath } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const JOB = 'a9bb24628cd66d4aa93ef718aab300a1';
const pointers = pointersOf(fixtureCases());

/** Runs a pipe of the shell in which `ckpt` is the built program. */
function shell(script: string, env: Readonly<Record<string, string>> = {}) {
  return execa('sh', ['-c', `ckpt() { "$NODE" "$BIN" "$@"; }; ${script}`], {
    env: { NODE: process.execPath, BIN: binPath(), ...env },
    reject: false,
    stripFinalNewline: false,
  });
}

/** A checkpoint of more than five megabytes of metadata. */
async function bigCheckpoint(): Promise<string> {
  const subtasks = Array.from({ length: 10 }, (_, index) => {
    const files = Array.from({ length: 10 }, (__, at) => file(`file:/data/${JOB}/shared/${index}-${at}`, 10));
    return subtask({ index, managedKeyedState: incremental(files) });
  });
  const operatorStates = Array.from({ length: 800 }, (_, index) =>
    operator({ operatorId: operatorId(index + 1), name: `operator ${index}`, parallelism: 10, subtasks }),
  );
  return checkpointAt(join(await tempDirectory(), 'chk-1'), metadata({ operatorStates }));
}

describe('ckpt dump', () => {
  it('prints the document of real Flink, compact and on one line', async () => {
    const { map, path, original } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const { stdout, stderr, exitCode } = await runCkpt(['dump', ...map, path(JOB, 'chk-3')]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout.indexOf('\n')).toBe(stdout.length - 1);
    const oracle = fixtureCase('flink-2.3.0/rocksdb-incremental').pointers.find(
      ({ checkpointId }) => checkpointId === 3,
    );
    const { readByFlink, ...expected } = JSON.parse(await readFile(oracle?.oracleFile ?? '', 'utf8'));
    const document = JSON.parse(stdout);
    expect(readByFlink).toBeDefined();
    expect(document).toMatchObject({
      externalPointer: `${original}/${JOB}/chk-3`,
      version: expected.version,
      checkpointId: expected.checkpointId,
      properties: expected.properties,
    });
    const ids = ({ operatorStates }: { operatorStates: { operatorId: string }[] }) =>
      operatorStates.map(({ operatorId: id }) => id);
    expect(ids(document)).toEqual(ids(expected));
  });

  it('indents with --pretty, and means the same', async () => {
    const { path } = await copyOfCase('flink-2.3.0/operator-state');
    const pointer = ['--latest', path()];
    const [plain, pretty, json] = await Promise.all([
      runCkpt(['dump', ...pointer]),
      runCkpt(['dump', '--pretty', ...pointer]),
      runCkpt(['dump', '--json', ...pointer]),
    ]);
    expect(JSON.parse(pretty.stdout)).toEqual(JSON.parse(plain.stdout));
    expect(pretty.stdout).toMatch(/^\{\n {1,4}"/);
    expect(json.stdout).toBe(plain.stdout);
  });

  it('of nothing readable prints no half of a document', async () => {
    const directory = await checkpointAt(await tempDirectory(), metadata().subarray(0, 18));
    expect(await runCkpt(['dump', directory])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining(`ckpt: file:${directory}/_metadata: corrupt metadata at byte`),
      exitCode: 4,
    });
    const { stdout } = await runCkpt(['dump', '--json', directory]);
    expect(Object.keys(JSON.parse(stdout))).toEqual(['error']);
    await rm(join(directory, '_metadata'));
    expect((await runCkpt(['dump', directory])).exitCode).toBe(3);
    expect((await runCkpt(['dump', '--job', 'a', directory])).exitCode).toBe(2);
  });

  it('takes the newest with --latest, and says which others there are', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-7'), metadata({ checkpointId: 7n }));
    await checkpointAt(join(root, 'f'.repeat(32), 'chk-9'), metadata({ checkpointId: 9n }));
    const { stdout, stderr, exitCode } = await runCkpt(['dump', '--latest', '--job', 'a9', root]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(JSON.parse(stdout).checkpointId).toBe(7);
    expect((await runCkpt(['dump', '--latest', root])).stderr).toContain('warning: several jobs; ');
  });

  it.runIf(hasTerminal)('puts no colours and no escapes on a terminal', async () => {
    const operatorStates = [operator({ name: 'a\u001b[2J\u202e' })];
    const directory = await checkpointAt(join(await tempDirectory(), 'chk-1'), metadata({ operatorStates }));
    const { screen } = await runInTerminal([process.execPath, binPath(), 'dump', directory]);
    expect(screen).not.toContain('\u001b');
    expect(screen).toContain('a\\u001b[2J');
  });

  it('changes nothing, also where nobody may write', async () => {
    const { path, root } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    await chmod(path(JOB, 'chk-1'), 0o555);
    const before = await snapshotOf(root);
    expect((await runCkpt(['dump', path(JOB, 'chk-1')])).exitCode).toBe(0);
    expect((await runCkpt(['dump', '--latest', root])).exitCode).toBe(0);
    expect(await snapshotOf(root)).toEqual(before);
  });
});

describe('in real pipes', () => {
  it('every checkpoint comes back from assemble byte for byte', { timeout: 300_000 }, async () => {
    const directory = await tempDirectory();
    expect(pointers.length).toBeGreaterThan(40);
    const script = `
      status=0
      for metadata; do
        ckpt dump "$metadata" | ckpt assemble - --quiet --overwrite --out "$OUT" > /dev/null || status=1
        cmp "$metadata" "$OUT" || status=1
      done
      exit $status`;
    const { stdout, stderr, exitCode } = await execa(
      'sh',
      ['-c', `ckpt() { "$NODE" "$BIN" "$@"; }; ${script}`, 'sh', ...pointers.map(({ metadataFile }) => metadataFile)],
      { env: { NODE: process.execPath, BIN: binPath(), OUT: join(directory, 'out') }, reject: false },
    );
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });

  it('so does a big one, compact and indented', async () => {
    const directory = await bigCheckpoint();
    const script = `
      ckpt dump "$IN" | ckpt assemble - --out "$OUT/compact" &&
      ckpt dump --pretty "$IN" | ckpt assemble - --out "$OUT/pretty" &&
      cmp "$IN/_metadata" "$OUT/compact" && cmp "$IN/_metadata" "$OUT/pretty"`;
    const { stdout, stderr, exitCode } = await shell(script, { IN: directory, OUT: await tempDirectory() });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(/compact: .*, metadata version 6, 800 operators, 8,000 subtasks\n/);
  });

  it('a reader may leave early', async () => {
    const script = '{ ckpt dump "$IN"; echo "exit $?" >&2; } | head -c 20';
    const { stdout, stderr } = await shell(script, { IN: await bigCheckpoint() });
    expect({ stdout, stderr }).toEqual({ stdout: '{"externalPointer":"', stderr: 'exit 0\n' });
  });

  it('a full disk is an error', async () => {
    const { stderr, exitCode } = await shell('ckpt dump "$IN" > /dev/full', { IN: await bigCheckpoint() });
    expect(stderr).toMatch(/^ckpt: .*standard output: writing failed: ENOSPC/);
    expect(exitCode).toBe(1);
  });
});
