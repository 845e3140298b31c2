/** An object store whose caller "dies" at one of its changes: from then on nothing is done and nothing is ever answered. */
import type { ObjectStore, ObjectUpload } from '../../src/filesystem/object-store/object-store.js';

/** How far the last change gets: not to the store, half (of a batch), or all the way, but without an answer. */
export type Death = 'before' | 'half' | 'after';

const CHANGES = ['put', 'copy', 'delete', 'startUpload'] as const;
const UPLOAD_CHANGES = ['putPart', 'complete', 'abort'] as const;

/** See the file comment. The change is counted from 1 on. */
export class DyingCaller {
  changes = 0;
  /** Resolves at the death. */
  readonly died: Promise<void>;
  #isDead = false;
  #die: () => void = () => undefined;

  constructor(
    private readonly at: number,
    private readonly death: Death,
  ) {
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  /** The store as this caller sees it. */
  watch(store: ObjectStore): ObjectStore {
    return this.#proxy(store, CHANGES);
  }

  #proxy<T extends ObjectStore | ObjectUpload>(inner: T, changes: readonly string[]): T {
    return new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): Promise<unknown> => {
          const method = (given: readonly unknown[]): Promise<unknown> => Reflect.apply(value, target, given);
          return this.#call(name, method, args, changes);
        };
      },
    });
  }

  async #call(
    name: string | symbol,
    method: (args: readonly unknown[]) => Promise<unknown>,
    args: readonly unknown[],
    changes: readonly string[],
  ): Promise<unknown> {
    if (this.#isDead) return forever();
    const isChange = changes.includes(String(name));
    if (isChange && ++this.changes === this.at) {
      this.#isDead = true;
      if (this.death === 'after') await method(args).catch(() => undefined);
      if (this.death === 'half' && name === 'delete') {
        const keys = args[0] as readonly string[];
        await method([keys.slice(0, Math.ceil(keys.length / 2))]);
      }
      this.#die();
      return forever();
    }
    const result = await method(args);
    if (this.#isDead) return forever();
    return name === 'startUpload' ? this.#proxy(result as ObjectUpload, UPLOAD_CHANGES) : result;
  }
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
