/** Windows, which are namespaces. Origin: the windows of Flink's DataStream API and of its table runtime. */
import { makeSerializer } from './derived.js';
import { longValue } from './numbers.js';
import { parseLong } from './parse-number.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

function longField(value: StateValue, name: string): bigint | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const field = (value as { readonly [name: string]: StateValue })[name];
  return field === undefined ? undefined : parseLong(field);
}

/** From `start` to `end`, in milliseconds, without the end. */
export const TIME_WINDOW: ValueSerializer = makeSerializer({
  type: 'TimeWindow',
  length: 16,
  read(reader) {
    reader.readI64('start of a window');
    const start = longValue(reader.high, reader.low);
    reader.readI64('end of a window');
    return { start, end: longValue(reader.high, reader.low) };
  },
  skip: (reader) => void reader.take(16, 'a window'),
  write(value, writer) {
    const start = longField(value, 'start');
    const end = longField(value, 'end');
    if (start === undefined || end === undefined) return false;
    writer.writeI64(start);
    writer.writeI64(end);
    return true;
  },
});

export const GLOBAL_WINDOW: ValueSerializer = makeSerializer({
  type: 'GlobalWindow',
  length: 1,
  read(reader) {
    reader.take(1, 'a window');
    return 'global';
  },
  write(value, writer) {
    if (value !== 'global') return false;
    writer.writeI8(0);
    return true;
  },
});

/** Of SQL: numbered. */
export const COUNT_WINDOW: ValueSerializer = makeSerializer({
  type: 'CountWindow',
  length: 8,
  read(reader) {
    reader.readI64('number of a window');
    return { id: longValue(reader.high, reader.low) };
  },
  skip: (reader) => void reader.take(8, 'a window'),
  write(value, writer) {
    const id = longField(value, 'id');
    if (id === undefined) return false;
    writer.writeI64(id);
    return true;
  },
});
