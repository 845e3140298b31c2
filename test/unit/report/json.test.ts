import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine, jsonPieces } from '../../../src/report/json.js';

function whole(document: unknown, indent = 0): string {
  return [...jsonPieces(document, { indent })].join('');
}

describe('jsonPieces', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (document, indent) => {
        expect(whole(document, indent)).toBe(`${JSON.stringify(document, null, indent)}\n`);
      }),
    );
  });

  it.each([0, 2])('leaves out what JSON does not have, indented by %i', (indent) => {
    const document = {
      a: undefined,
      b: [undefined, () => 1],
      c: { d: { e: { f: undefined, g: new Date(0), h: { i: undefined } } } },
      d: {},
      e: { f: undefined },
      g: [],
    };
    expect(whole(document, indent)).toBe(`${JSON.stringify(document, null, indent)}\n`);
  });

  it('keeps integers exact', () => {
    const limit = BigInt(Number.MAX_SAFE_INTEGER);
    const document = {
      one: 1n,
      most: limit,
      least: -limit,
      over: limit + 1n,
      under: [-limit - 1n, { deep: [2n ** 63n] }],
    };
    expect(whole(document)).toBe(
      '{"one":1,"most":9007199254740991,"least":-9007199254740991,"over":"9007199254740992","under":["-9007199254740992",{"deep":["9223372036854775808"]}]}\n',
    );
    expect(whole(5n)).toBe('5\n');
  });

  it('cuts a long list into pieces of bounded size', () => {
    const entries = Array.from({ length: 20_000 }, (_, index) => ({ index, path: `file:/shared/${index}` }));
    const pieces = [...jsonPieces({ entries }, { indent: 0 })];
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000);
    expect(JSON.parse(pieces.join(''))).toEqual({ entries });
  });
});

describe('jsonLine', () => {
  it('is one line', () => {
    expect(jsonLine({ name: 'a\nb', size: 2n ** 60n })).toBe('{"name":"a\\nb","size":"1152921504606846976"}\n');
    expect(jsonLine(undefined)).toBe('null\n');
  });
});
