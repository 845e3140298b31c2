import { describe, expect, it } from 'vitest';
import {
  integerParser,
  parseAssignment,
  parseDuration,
  parseJobId,
  parseList,
  parseSize,
} from '../../../src/cli/options.js';
import { UsageError } from '../../../src/errors.js';

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['15min', 900_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['1 day', 86_400_000],
    ['2 Hours', 7_200_000],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', '15', '-1s', '1.5h', '1h30min', 's', '7 fortnights', '7w', '99999999999999d', '1toString', '0x1s'])(
    'refuses %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(UsageError);
    },
  );
});

describe('parseSize', () => {
  it.each([
    ['0', 0],
    ['4096', 4096],
    ['64kb', 65_536],
    ['2MiB', 2_097_152],
    ['1g', 1_073_741_824],
    ['1 t', 2 ** 40],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', 'kb', '-1', '1.5g', '1p', '99999999999t'])('refuses %j', (text) => {
    expect(() => parseSize(text)).toThrow(UsageError);
  });
});

describe('integerParser', () => {
  it('takes whole numbers within its bounds', () => {
    expect(integerParser()('0')).toBe(0);
    expect(integerParser({ minimum: -5 })('-5')).toBe(-5);
    expect(integerParser({ minimum: 1, maximum: 32768 })('32768')).toBe(32_768);
  });

  it.each(['', ' 1', '1.0', '1e3', '0x10', '-1', '32769', 'NaN', '9007199254740993'])('refuses %j', (text) => {
    expect(() => integerParser({ maximum: 32_768 })(text)).toThrow(UsageError);
  });
});

describe('parseJobId', () => {
  it('takes 32 hex digits of either case', () => {
    expect(parseJobId('FD72014D4C864993A2E5A9287B4A9C5D')).toBe('fd72014d4c864993a2e5a9287b4a9c5d');
  });

  it.each([
    '',
    'fd72014d',
    'gd72014d4c864993a2e5a9287b4a9c5d',
    'fd72014d4c864993a2e5a9287b4a9c5d0',
    'fd72014d4c864993a2e5a9287b4a9c5d\n',
  ])('refuses %j', (text) => {
    expect(() => parseJobId(text)).toThrow(UsageError);
  });
});

describe('parseList', () => {
  it('splits at commas', () => {
    expect(parseList('s3, s3a')).toEqual(['s3', 's3a']);
    expect(() => parseList('s3,,s3a')).toThrow(UsageError);
    expect(() => parseList('')).toThrow(UsageError);
  });
});

describe('parseAssignment', () => {
  it.each([
    ['a=b', 'a', 'b'],
    ['s3://old/x=file:/new', 's3://old/x', 'file:/new'],
    ['/date\\=2026=/new', '/date=2026', '/new'],
    ['/a=/date\\=2026/hour\\=1', '/a', '/date=2026/hour=1'],
  ])('%s goes from %s to %s', (text, old, replacement) => {
    expect(parseAssignment(text)).toEqual({ old, new: replacement });
  });

  it.each(['', '=', 'a', 'a=', '=b', 'a=b=c', 'a\\=b'])('refuses %j', (text) => {
    expect(() => parseAssignment(text)).toThrow(UsageError);
  });

  it('says how to write an equals sign', () => {
    expect(() => parseAssignment('/date=2026=/new')).toThrow('"\\="');
  });
});
