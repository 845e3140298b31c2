import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/errors.js';
import { requestLimit } from '../../../src/filesystem/request-limit.js';
import { DEFAULT_REQUESTS } from '../../../src/filesystem/requests.js';

const limit = (text: string, requests?: number) =>
  requestLimit({ configuration: new Map([['fs.gs.limit.total', text]]), requests }, 'gs');

describe('requestLimit', () => {
  it("is Flink's limit for this scheme, if it is less than the default", () => {
    expect(limit('4')).toBe(4);
    expect(limit('100000')).toBe(DEFAULT_REQUESTS);
    expect(requestLimit({ configuration: new Map([['fs.gs.limit.total', '4']]) }, 'abfs')).toBe(DEFAULT_REQUESTS);
  });

  it('is the default where there is none', () => {
    for (const none of ['', '-1', '0']) expect(limit(none)).toBe(DEFAULT_REQUESTS);
    expect(requestLimit({ configuration: new Map() }, 'gs')).toBe(DEFAULT_REQUESTS);
  });

  it('is what the command line says before all', () => {
    expect(limit('4', 100)).toBe(100);
  });

  it('refuses what is no number', () => {
    expect(() => limit('many')).toThrow(UsageError);
  });
});
