import { describe, expect, it } from 'vitest';
import { type RetriedRequest, StoreRequests, TransientFailure } from '../../../src/filesystem/requests.js';

/** Fails as often as told, then succeeds. */
function failing(times: number, error: () => Error): { readonly work: () => Promise<number>; calls: number } {
  const state = {
    calls: 0,
    work: async (): Promise<number> => {
      state.calls++;
      if (state.calls <= times) throw error();
      return state.calls;
    },
  };
  return state;
}

const busy = (): Error => new TransientFailure(new Error('busy'));

describe('StoreRequests', () => {
  it('makes a request again after a transient failure, and tells of it', async () => {
    const retried: RetriedRequest[] = [];
    const requests = new StoreRequests({ firstPause: 1, onRetry: (one) => retried.push(one) });
    const state = failing(2, busy);
    expect(await requests.run('GET bucket/key', state.work)).toBe(3);
    expect(retried).toEqual([
      { request: 'GET bucket/key', reason: 'busy', attempt: 1, pause: 0 },
      { request: 'GET bucket/key', reason: 'busy', attempt: 2, pause: 0 },
    ]);
  });

  it('gives up after the last attempt with the cause', async () => {
    const cause = new Error('still busy');
    const state = failing(99, () => new TransientFailure(cause));
    await expect(new StoreRequests({ attempts: 3, firstPause: 1 }).run('GET x', state.work)).rejects.toBe(cause);
    expect(state.calls).toBe(3);
  });

  it('does not repeat what fails for good, whatever it is', async () => {
    for (const error of [new Error('denied'), new TypeError('fetch failed'), new RangeError('x')]) {
      const state = failing(1, () => error);
      await expect(new StoreRequests({ firstPause: 1 }).run('GET x', state.work)).rejects.toBe(error);
      expect(state.calls).toBe(1);
    }
  });

  it('waits as long as the store asks for', async () => {
    const state = failing(1, () => new TransientFailure(new Error('slow down'), { retryAfter: 150 }));
    const start = performance.now();
    await new StoreRequests({ firstPause: 1 }).run('GET x', state.work);
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  });

  it('keeps to its number of requests at once', async () => {
    const requests = new StoreRequests({ concurrency: 3 });
    let now = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      now--;
    };
    await Promise.all(Array.from({ length: 30 }, () => requests.run('GET x', work)));
    expect(most).toBe(3);
  });

  it('ends with the reason of its signal, also in the middle of a pause', async () => {
    const controller = new AbortController();
    const reason = new Error('interrupted');
    const state = failing(99, () => new TransientFailure(new Error('busy'), { retryAfter: 5000 }));
    const run = new StoreRequests({ firstPause: 1 }).run('GET x', state.work, controller.signal);
    setTimeout(() => controller.abort(reason), 30);
    await expect(run).rejects.toBe(reason);
    await expect(new StoreRequests().run('GET x', async () => 1, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('end at once, answered or not, when those who only read are interrupted', async () => {
    const controller = new AbortController();
    const requests = new StoreRequests({ interrupt: controller.signal });
    const silent = [1, 2, 3].map(() => requests.run('GET x', () => new Promise<never>(() => undefined)));
    const reason = new Error('interrupted');
    setTimeout(() => controller.abort(reason), 10);
    for (const request of silent) await expect(request).rejects.toBe(reason);
    await expect(requests.run('GET x', async () => 1)).rejects.toBe(reason);
  });
});
