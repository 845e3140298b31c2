import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { watchSignals } from '../../../src/cli/signals.js';
import { InterruptedError } from '../../../src/errors.js';

it('aborts with the first signal and hands on the next', () => {
  const source = new EventEmitter();
  const again: string[] = [];
  const watch = watchSignals(source, (signal) => again.push(signal));
  expect(watch.received).toBeUndefined();

  source.emit('SIGTERM');
  expect(watch.received).toBe('SIGTERM');
  expect(watch.signal.reason).toBeInstanceOf(InterruptedError);
  expect(watch.signal.reason).toMatchObject({
    code: 'INTERRUPTED',
    message: 'terminated',
    data: { signal: 'SIGTERM' },
  });
  expect(again).toEqual([]);

  source.emit('SIGINT');
  source.emit('SIGINT');
  expect(again).toEqual(['SIGINT', 'SIGINT']);
  expect(watch.received).toBe('SIGTERM');
});

it('leaves no listener behind', () => {
  const source = new EventEmitter();
  const watch = watchSignals(source, () => undefined);
  watch.dispose();
  expect(source.eventNames()).toEqual([]);
  expect(watch.signal.aborted).toBe(false);
});
