/** What was allocated in typed arrays and buffers while something ran. */
export interface Allocations {
  /** Bytes of all of them. */
  total: number;
  /** Bytes of the largest. */
  largest: number;
}

const TYPED_ARRAYS = ['ArrayBuffer', 'Uint8Array', 'Int32Array', 'Float64Array', 'BigInt64Array'] as const;
const BUFFER_METHODS = ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const;

/**
 * Runs `use` with constructors of typed arrays that count what they are asked for, before they allocate it. Memory that is
 * only reserved shows in no statistics of the process: `new Uint8Array(2 ** 31)` costs nothing until it is written to.
 */
export function countAllocations<T>(use: () => T): { readonly result: T; readonly allocations: Allocations } {
  const allocations: Allocations = { total: 0, largest: 0 };
  const note = (bytes: number): void => {
    allocations.total += bytes;
    allocations.largest = Math.max(allocations.largest, bytes);
  };
  const restore: (() => void)[] = [];
  const replace = (target: object, name: string, wrap: (original: never) => unknown): void => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    if (!descriptor) throw new Error(`there is no ${name} to count`);
    restore.push(() => Object.defineProperty(target, name, descriptor));
    Object.defineProperty(target, name, { ...descriptor, value: wrap(descriptor.value as never) });
  };
  for (const name of TYPED_ARRAYS) {
    replace(globalThis, name, (original: typeof Uint8Array) => {
      const proxy: object = new Proxy(original, {
        construct(target, parameters, newTarget) {
          const [size] = parameters;
          const bytesEach = target.BYTES_PER_ELEMENT ?? 1;
          if (typeof size === 'number') note(size * bytesEach);
          else if (Array.isArray(size) || ArrayBuffer.isView(size)) note((size as Uint8Array).length * bytesEach);
          return Reflect.construct(target, parameters, newTarget === proxy ? target : newTarget);
        },
      });
      return proxy;
    });
  }
  for (const name of BUFFER_METHODS) {
    replace(Buffer, name, (original: (size: number) => Buffer) => (size: number, ...rest: []) => {
      note(size);
      return original.call(Buffer, size, ...rest);
    });
  }
  try {
    return { result: use(), allocations };
  } finally {
    for (const undo of restore.reverse()) undo();
  }
}
