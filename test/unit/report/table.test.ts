import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainStyle } from '../../../src/report/style.js';
import { type Column, renderFields, renderTable } from '../../../src/report/table.js';
import type { View } from '../../../src/report/view.js';
import { textWidth } from '../../../src/report/wrap.js';

interface Operator {
  readonly name: string;
  readonly id: string;
  readonly bytes: string;
  readonly backend: string;
}

const columns: readonly Column<Operator>[] = [
  { heading: 'OPERATOR', cell: (row) => row.name },
  { heading: 'ID', cell: (row) => row.id, minimum: 8, priority: 2 },
  { heading: 'BYTES', cell: (row) => row.bytes, align: 'right' },
  { heading: 'BACKEND', cell: (row) => row.backend, priority: 1, optional: true },
];

const rows: readonly Operator[] = [
  { name: 'Source: Kafka orders', id: 'bc764cd8ddf7a0cff126f51c16239658', bytes: '1.2 GiB', backend: '' },
  { name: 'Window', id: '0a448493b4782967b150582570326227', bytes: '12 B', backend: 'rocksdb' },
];

function view(width = Number.POSITIVE_INFINITY): View {
  return { style: plainStyle, width, now: 0, verbose: false };
}

describe('renderTable', () => {
  it('aligns columns and ends no line with blanks', () => {
    expect(renderTable(columns, rows, view())).toBe(
      [
        'OPERATOR              ID                                  BYTES  BACKEND',
        'Source: Kafka orders  bc764cd8ddf7a0cff126f51c16239658  1.2 GiB',
        'Window                0a448493b4782967b150582570326227     12 B  rocksdb',
        '',
      ].join('\n'),
    );
  });

  it('is nothing without rows, and leaves out optional columns without text', () => {
    expect(renderTable(columns, [], view())).toBe('');
    expect(renderTable(columns, rows.slice(0, 1), view())).not.toContain('BACKEND');
  });

  it('wraps text where the terminal is narrow, and never numbers', () => {
    expect(renderTable(columns, rows, view(55))).toBe(
      [
        'OPERATOR            ID                   BYTES  BACKEND',
        'Source: Kafka       bc764cd8ddf7a0cff  1.2 GiB',
        'orders              126f51c16239658',
        'Window              0a448493b4782967b     12 B  rocksdb',
        '                    150582570326227',
        '',
      ].join('\n'),
    );
  });

  it('moves the least important columns below their row', () => {
    expect(renderTable(columns, rows, view(34))).toBe(
      [
        'OPERATOR                BYTES',
        'Source: Kafka orders  1.2 GiB',
        '    ID: bc764cd8ddf7a0cff126f51c16',
        '    239658',
        'Window                   12 B',
        '    ID: 0a448493b4782967b150582570',
        '    326227',
        '    BACKEND: rocksdb',
        '',
      ].join('\n'),
    );
  });

  it('becomes a list of records where no table fits', () => {
    expect(renderTable(columns, rows, view(20))).toBe(
      [
        'OPERATOR  Source:',
        '          Kafka',
        '          orders',
        'ID        bc764cd8dd',
        '          f7a0cff126',
        '          f51c162396',
        '          58',
        'BYTES     1.2 GiB',
        '',
        'OPERATOR  Window',
        'ID        0a448493b4',
        '          782967b150',
        '          5825703262',
        '          27',
        'BYTES     12 B',
        'BACKEND   rocksdb',
        '',
      ].join('\n'),
    );
  });

  it('escapes what could move the cursor or forge a row', () => {
    const text = renderTable(columns, [{ name: 'a\u001b[2J\nTotal', id: '1', bytes: '1', backend: '' }], view());
    expect(text.split('\n')).toHaveLength(3);
    expect(text).toContain('a\\x1b[2J\\nTotal');
  });

  it('colours cells without moving them', () => {
    const painted: readonly Column<Operator>[] = columns.map((column) => ({
      ...column,
      paint: () => (text: string) => `<${text}>`,
    }));
    expect(renderTable(painted, rows, view()).split('\n')[2]).toBe(
      '<Window>                <0a448493b4782967b150582570326227>     <12 B>  <rocksdb>',
    );
  });

  it('shows every character of every cell at any width, within that width', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '-', ' ', '窓', '\n', '/'), maxLength: 60 });
    const row = fc.record({ name, id: name, bytes: fc.nat().map(String), backend: name });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 24, max: 160 }), (some, width) => {
        const text = renderTable(columns, some, view(width));
        const count = (inside: string) => [...inside].filter((character) => character === '窓').length;
        expect(count(text)).toBe(some.map((one) => count(one.name + one.id + one.backend)).reduce((a, b) => a + b));
        for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('takes time in proportion to the rows', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => ({
      ...rows[0],
      name: `operator ${index}`,
      id: `${index}`,
      bytes: '1',
      backend: '',
    }));
    expect(renderTable(columns, many, view()).split('\n')).toHaveLength(100_002);
  });
});

describe('renderFields', () => {
  it('aligns values and leaves out what is not there', () => {
    const fields = [
      ['checkpoint', '42'],
      ['job', undefined],
      ['pointer', 'file:/data/x'],
    ] as const;
    expect(renderFields(fields, view())).toBe('checkpoint  42\npointer     file:/data/x\n');
    expect(renderFields([], view())).toBe('');
  });

  it('wraps and escapes values', () => {
    expect(renderFields([['name', 'one two three\u0007 four']], view(20))).toBe(
      'name  one two\n      three\\x07 four\n',
    );
  });
});
