import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { canAsk, confirm, requireConfirmation } from '../../../src/cli/confirm.js';
import { InterruptedError, RefusedError } from '../../../src/errors.js';

function conversation(options: { input?: boolean; output?: boolean } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: options.input ?? true });
  const output = Object.assign(new PassThrough(), { isTTY: options.output ?? true });
  const controller = new AbortController();
  return { input, output, controller, signal: controller.signal };
}

describe('confirm', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    [' yes \r\n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    ['no\ny\n', false],
  ])('takes %j for %s', async (answer, expected) => {
    const terminal = conversation();
    terminal.input.write(answer);
    expect(await confirm('Delete 3 files?', terminal)).toBe(expected);
    expect(terminal.output.read()?.toString()).toBe('Delete 3 files? [y/N] ');
  });

  it('takes the end of the input for no', async () => {
    const terminal = conversation();
    terminal.input.end();
    expect(await confirm('Go on?', terminal)).toBe(false);
  });

  it.each([{ input: false }, { output: false }])('asks nobody without a terminal: %o', async (ends) => {
    const terminal = conversation(ends);
    terminal.input.write('y\n');
    expect(canAsk(terminal)).toBe(false);
    expect(await confirm('Go on?', terminal)).toBe(false);
    expect(terminal.output.read()).toBeNull();
  });

  it('ends when it is interrupted', async () => {
    const terminal = conversation();
    const answer = confirm('Go on?', terminal);
    terminal.controller.abort(new InterruptedError('SIGINT'));
    await expect(answer).rejects.toThrow(InterruptedError);
    await expect(confirm('Again?', terminal)).rejects.toThrow(InterruptedError);
  });
});

describe('requireConfirmation', () => {
  const never = { canAsk: true, confirm: async () => expect.unreachable() };

  it('asks nobody who said --yes', async () => {
    await expect(requireConfirmation(never, 'Go on?', { yes: true })).resolves.toBeUndefined();
  });

  it('refuses where there is nobody to ask', async () => {
    await expect(requireConfirmation({ ...never, canAsk: false }, 'Go on?', {})).rejects.toThrow(
      /--yes.*nothing was changed/,
    );
  });

  it('follows the answer', async () => {
    await expect(
      requireConfirmation({ canAsk: true, confirm: async () => true }, 'Go on?', {}),
    ).resolves.toBeUndefined();
    await expect(requireConfirmation({ canAsk: true, confirm: async () => false }, 'Go on?', {})).rejects.toThrow(
      RefusedError,
    );
  });
});
