import { describe, expect, it } from 'vitest';
import { operatorIdOfUid } from '../../src/format/hash/operator-id.js';
import { runCkpt } from '../support/run-ckpt.js';

// Ids that Flink itself gave to operators with these uids.
const known = { 'my-uid': '8409efe6adc6d20787611f16017c808f' };

describe('ckpt uid', () => {
  it('prints an id for each uid, in the order given', async () => {
    const result = await runCkpt(['uid', 'zweite', 'my-uid', 'zweite']);
    const other = operatorIdOfUid('zweite');
    expect(result).toMatchObject({
      stdout: `${other}  zweite\n${known['my-uid']}  my-uid\n${other}  zweite\n`,
      stderr: '',
      exitCode: 0,
    });
  });

  it('prints JSON', async () => {
    const { stdout, exitCode } = await runCkpt(['uid', '--json', 'my-uid', 'Größe 窓 😀']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { uid: 'my-uid', operatorId: known['my-uid'] },
      { uid: 'Größe 窓 😀', operatorId: operatorIdOfUid('Größe 窓 😀') },
    ]);
  });

  it('reads uids from standard input, one a line', async () => {
    const { stdout } = await runCkpt(['uid', '--json', 'first', '-', 'last'], { input: 'a b\r\n\nc' });
    expect(JSON.parse(stdout).map(({ uid }: { uid: string }) => uid)).toEqual(['first', 'a b', 'c', 'last']);
    expect((await runCkpt(['uid', '-', '--json'])).stdout).toBe('[]\n');
  });

  it('takes 10,000 uids as arguments and as input', async () => {
    const uids = Array.from({ length: 10_000 }, (_, index) => `operator-${index}`);
    const expected = uids.map((uid) => `${operatorIdOfUid(uid)}  ${uid}\n`).join('');
    expect((await runCkpt(['uid', ...uids])).stdout).toBe(expected);
    expect((await runCkpt(['uid', '-'], { input: uids.join('\n') })).stdout).toBe(expected);
  });

  it('takes uids that look like options behind --', async () => {
    const { stdout } = await runCkpt(['uid', '--', '--json', '-x']);
    expect(stdout).toBe(`${operatorIdOfUid('--json')}  --json\n${operatorIdOfUid('-x')}  -x\n`);
  });

  it('prints no control characters', async () => {
    const { stdout } = await runCkpt(['uid', 'a\u001b[2Jb\nc']);
    expect(stdout).toBe(`${operatorIdOfUid('a\u001b[2Jb\nc')}  a\\x1b[2Jb\\nc\n`);
  });

  it('refuses the empty uid and input that is no text', async () => {
    expect(await runCkpt(['uid', ''])).toMatchObject({
      stdout: '',
      stderr: 'ckpt: a uid must not be empty\n',
      exitCode: 2,
    });
    const { stdout, exitCode } = await runCkpt(['uid', '-', '--json'], { input: Uint8Array.of(0xff, 0x0a) });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'USAGE', message: 'standard input is not UTF-8 text' });
  });
});
