/**
 * Numbers, sizes and times as people read them. Nothing here depends on the locale or the time zone of the machine.
 */
import prettyBytes from 'pretty-bytes';

/** A size in powers of 1024 to three digits: `0 B`, `1.25 GiB`, `115 TiB`. */
export function formatBytes(bytes: number | bigint): string {
  return prettyBytes(bytes, { binary: true });
}

/** A size with its exact number where the short form loses something: `1.25 GiB (1,342,177,280 bytes)`. */
export function formatExactBytes(bytes: number | bigint): string {
  const exact = plural(bytes, 'byte');
  return bytes < 1024 && bytes > -1024 ? exact : `${formatBytes(bytes)} (${exact})`;
}

/** A whole number with separators: `1,234,567`. */
export function formatCount(count: number | bigint): string {
  return count.toString().replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A count with its noun: `1 file`, `1,234 files`, `2 directories` (the plural given). */
export function plural(count: number | bigint, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 || count === 1n ? noun : nouns}`;
}

/**
 * A moment in UTC by the second: `2026-11-30T14:03:05Z`.
 * @param time milliseconds since the epoch; `unknown` for a moment that no calendar has
 */
export function formatTime(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** How long before `now` a moment was: `3 d ago`, `just now`, `in 5 min`. Both in milliseconds since the epoch. */
export function formatAge(time: number, now: number): string {
  const age = now - time;
  if (!Number.isFinite(age)) return 'unknown';
  if (Math.abs(age) < 1000) return 'just now';
  const length = largestUnit(Math.abs(age));
  return age > 0 ? `${length} ago` : `in ${length}`;
}

const units = [
  { name: 'd', milliseconds: 86_400_000 },
  { name: 'h', milliseconds: 3_600_000 },
  { name: 'min', milliseconds: 60_000 },
  { name: 's', milliseconds: 1000 },
] as const;

function largestUnit(milliseconds: number): string {
  for (const unit of units) {
    if (milliseconds >= unit.milliseconds) {
      return `${formatCount(Math.floor(milliseconds / unit.milliseconds))} ${unit.name}`;
    }
  }
  return `${Math.floor(milliseconds)} ms`;
}

/** A span of time in its two largest units: `250 ms`, `90 s` as `1 min 30 s`, `1 d 2 h`. Not negative. */
export function formatDuration(milliseconds: number): string {
  const first = units.findIndex((unit) => milliseconds >= unit.milliseconds);
  const larger = units[first];
  if (larger === undefined) return `${Math.floor(milliseconds)} ms`;
  const whole = `${formatCount(Math.floor(milliseconds / larger.milliseconds))} ${larger.name}`;
  const smaller = units[first + 1];
  const rest = smaller === undefined ? 0 : Math.floor((milliseconds % larger.milliseconds) / smaller.milliseconds);
  return rest === 0 || smaller === undefined ? whole : `${whole} ${rest} ${smaller.name}`;
}

/**
 * A part of a whole: `12.5%`. Never rounds to `0%` or `100%` what is not (`<0.1%`, `>99.9%`); `–` if the whole is 0.
 */
export function formatPercent(part: number | bigint, whole: number | bigint): string {
  if (Number(whole) === 0) return '–';
  const percent = (Number(part) / Number(whole)) * 100;
  if (percent > 0 && percent < 0.1) return '<0.1%';
  if (percent > 99.9 && percent < 100) return '>99.9%';
  return `${percent.toFixed(1).replace(/\.0$/, '')}%`;
}
