import { describe, expect, it } from 'vitest';
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatExactBytes,
  formatPercent,
  formatTime,
  plural,
} from '../../../src/report/format.js';

describe('sizes', () => {
  it.each<[number | bigint, string]>([
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536n, '1.5 KiB'],
    [1024 ** 2 - 1, '1 MiB'],
    [1_342_177_280, '1.25 GiB'],
    [123_456_789_012, '115 GiB'],
    [2n ** 63n - 1n, '8 EiB'],
  ])('%s bytes are %s', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });

  it('says the exact number where the short form loses it', () => {
    expect(formatExactBytes(1)).toBe('1 byte');
    expect(formatExactBytes(1023)).toBe('1,023 bytes');
    expect(formatExactBytes(1_342_177_281)).toBe('1.25 GiB (1,342,177,281 bytes)');
  });
});

describe('counts', () => {
  it.each<[number | bigint, string]>([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [-1234567, '-1,234,567'],
    [2n ** 63n - 1n, '9,223,372,036,854,775,807'],
  ])('%s reads %s', (count, expected) => {
    expect(formatCount(count)).toBe(expected);
  });

  it('has a noun for one and for others', () => {
    expect(plural(1, 'file')).toBe('1 file');
    expect(plural(1n, 'file')).toBe('1 file');
    expect(plural(0, 'file')).toBe('0 files');
    expect(plural(2000, 'directory', 'directories')).toBe('2,000 directories');
  });
});

describe('times', () => {
  it('are in UTC by the second', () => {
    expect(formatTime(Date.UTC(2026, 10, 30, 14, 3, 5, 678))).toBe('2026-11-30T14:03:05Z');
    expect(formatTime(Number.NaN)).toBe('unknown');
    expect(formatTime(1e300)).toBe('unknown');
  });

  it.each([
    [0, 'just now'],
    [999, 'just now'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [3 * 86_400_000 + 5, '3 d ago'],
    [-5 * 60_000, 'in 5 min'],
    [Number.NaN, 'unknown'],
  ])('an age of %s ms is %s', (age, expected) => {
    expect(formatAge(1e12 - age, 1e12)).toBe(expected);
  });

  it.each([
    [0, '0 ms'],
    [250.7, '250 ms'],
    [1000, '1 s'],
    [1999, '1 s'],
    [90_000, '1 min 30 s'],
    [3_600_000, '1 h'],
    [93_600_000, '1 d 2 h'],
    [86_460_000, '1 d'],
  ])('%s ms last %s', (milliseconds, expected) => {
    expect(formatDuration(milliseconds)).toBe(expected);
  });
});

describe('percentages', () => {
  it.each<[number | bigint, number | bigint, string]>([
    [0, 10, '0%'],
    [10, 10, '100%'],
    [1, 8, '12.5%'],
    [1, 1_000_000, '<0.1%'],
    [999_999, 1_000_000, '>99.9%'],
    [1, 0, '–'],
    [2n ** 62n, 2n ** 63n, '50%'],
  ])('%s of %s are %s', (part, whole, expected) => {
    expect(formatPercent(part, whole)).toBe(expected);
  });
});
