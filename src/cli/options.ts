/**
 * Turns the text of an option into a value. Each parser takes the text and throws a `UsageError` that says what would
 * have been right; the frame adds which option it was.
 */
import { UsageError } from '../errors.js';

/** Milliseconds of each unit; the names are those of Flink's durations. */
const durationUnits: Readonly<Record<string, number>> = {
  ...named(['ms', 'milli', 'millis', 'millisecond', 'milliseconds'], 1),
  ...named(['s', 'sec', 'secs', 'second', 'seconds'], 1000),
  ...named(['min', 'm', 'minute', 'minutes'], 60_000),
  ...named(['h', 'hour', 'hours'], 3_600_000),
  ...named(['d', 'day', 'days'], 86_400_000),
};

/** Bytes of each unit; the names are those of Flink's memory sizes, all in powers of 1024. */
const sizeUnits: Readonly<Record<string, number>> = {
  ...named(['', 'b', 'byte', 'bytes'], 1),
  ...named(['k', 'kb', 'kib', 'kibibytes'], 2 ** 10),
  ...named(['m', 'mb', 'mib', 'mebibytes'], 2 ** 20),
  ...named(['g', 'gb', 'gib', 'gibibytes'], 2 ** 30),
  ...named(['t', 'tb', 'tib', 'tebibytes'], 2 ** 40),
};

function named(names: readonly string[], value: number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/**
 * A duration with its unit, `90s`, `15min`, `12h`, `7d`, in milliseconds. `0s` is one; a bare number is not.
 * @throws UsageError
 */
export function parseDuration(text: string): number {
  const value = withUnit(text, durationUnits);
  if (value === undefined) {
    throw new UsageError(`"${text}" is not a duration: a whole number and its unit, such as 90s, 15min, 12h or 7d`, {
      value: text,
    });
  }
  return value;
}

/**
 * A size in bytes: `4096`, `64kb`, `1g`, `2MiB`.
 * @throws UsageError
 */
export function parseSize(text: string): number {
  const value = withUnit(text, sizeUnits);
  if (value === undefined) {
    throw new UsageError(`"${text}" is not a size: a whole number of bytes, or with a unit such as 64kb, 512mb or 1g`, {
      value: text,
    });
  }
  return value;
}

function withUnit(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+) ?([a-z]*)$/i.exec(text.trim());
  const unit = (match?.[2] ?? '').toLowerCase();
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (match === null || factor === undefined) return undefined;
  const value = Number(match[1]) * factor;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Bounds of {@link integerParser}, both included. */
export interface IntegerBounds {
  /** Default 0. */
  readonly minimum?: number;
  /** Default 2^53-1. */
  readonly maximum?: number;
}

/** A parser of whole numbers within bounds. The parser throws UsageError. */
export function integerParser(bounds: IntegerBounds = {}): (text: string) => number {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = bounds;
  return (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
      const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
      throw new UsageError(`"${text}" is not a whole number ${range}`, { value: text });
    }
    return value;
  };
}

/**
 * A job id, 32 hex digits, in lower case.
 * @throws UsageError
 */
export function parseJobId(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text)) {
    throw new UsageError(`"${text}" is not a job id: 32 hex digits`, { value: text });
  }
  return text.toLowerCase();
}

/**
 * A job id or the first digits of one, in lower case: enough to pick one of several jobs.
 * @throws UsageError
 */
export function parseJobIdPart(text: string): string {
  if (!/^[0-9a-f]{1,32}$/i.test(text)) {
    throw new UsageError(`"${text}" is not a job id, nor the beginning of one: up to 32 hex digits`, { value: text });
  }
  return text.toLowerCase();
}

/**
 * A list with commas as its entries, blanks around them taken away: `a, b` gives `a` and `b`.
 * @throws UsageError if an entry is empty
 */
export function parseList(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.includes('')) throw new UsageError(`"${text}" has an empty entry`, { value: text });
  return entries;
}

/** The two sides of `OLD=NEW`. */
export interface Assignment {
  readonly old: string;
  readonly new: string;
}

/**
 * `OLD=NEW`, split at its only `=`. An `=` that belongs to a side is written `\=`.
 * @throws UsageError if there is no `=`, more than one, or nothing on a side
 */
export function parseAssignment(text: string): Assignment {
  const sides = text.split(/(?<!\\)=/);
  const [old, replacement] = sides.map((side) => side.replaceAll('\\=', '='));
  if (sides.length !== 2 || !old || !replacement) {
    const reason =
      sides.length > 2 ? 'has more than one "="; write one that belongs to a side as "\\="' : 'is not OLD=NEW';
    throw new UsageError(`"${text}" ${reason}`, { value: text });
  }
  return { old, new: replacement };
}
