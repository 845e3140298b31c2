import { describe, expect, it } from 'vitest';
import { type ListDocument, type ListDocumentEntry, renderList, renderNewest } from '../../../src/report/list.js';
import { plainStyle } from '../../../src/report/style.js';
import type { View } from '../../../src/report/view.js';

const NOW = Date.parse('2026-11-30T00:00:00Z');
const JOB = 'aaaaaaaa000000000000000000000001';
const view = (width: number): View => ({ style: plainStyle, width, now: NOW, verbose: false });

const entry = (id: number, more: Partial<ListDocumentEntry> = {}): ListDocumentEntry => ({
  pointer: `s3://bucket/cp/${JOB}/chk-${id}`,
  jobId: JOB,
  jobIdPrefix: null,
  kind: 'checkpoint',
  checkpointId: id,
  status: 'complete',
  time: '2026-11-29T23:00:00.000Z',
  version: 6,
  metadataBytes: 2048,
  totalBytes: null,
  exclusiveBytes: null,
  operatorNames: null,
  leftFiles: null,
  leftBytes: null,
  error: null,
  ...more,
});

const document = (
  entries: readonly ListDocumentEntry[],
  more: Partial<ListDocument['jobs'][number]> = {},
): ListDocument => ({
  roots: ['s3://bucket/cp'],
  entries,
  jobs: [
    {
      jobId: JOB,
      jobIdPrefix: null,
      directory: `s3://bucket/cp/${JOB}`,
      newest: entries.at(-1)?.pointer ?? null,
      time: '2026-11-29T23:00:00.000Z',
      complete: entries.filter(({ status }) => status === 'complete').length,
      incomplete: entries.filter(({ status }) => status === 'incomplete').length,
      inProgress: 0,
      halfDiscarded: 0,
      broken: entries.filter(({ status }) => status === 'broken').length,
      metadataBytes: 0,
      totalBytes: null,
      operatorNames: null,
      ...more,
    },
  ],
  failed: [],
  unread: [],
});

const text = (value: ListDocument, width: number): string => [...renderList(value, view(width))].join('');

describe('the text of list', () => {
  it('shows names below their directory on a terminal', () => {
    expect(text(document([entry(2), entry(10)]), 80)).toBe(
      [
        `Job ${JOB}`,
        `s3://bucket/cp/${JOB}`,
        '2 complete, newest chk-10 (1 h ago)',
        'Id  Status    Written               Metadata  Directory',
        ' 2  complete  2026-11-29T23:00:00Z     2 KiB  chk-2',
        '10  complete  2026-11-29T23:00:00Z     2 KiB  chk-10',
        '',
      ].join('\n'),
    );
  });

  it('shows whole pointers where there is room', () => {
    const wide = text(document([entry(2)]), Number.POSITIVE_INFINITY);
    expect(wide).toContain(`1 h ago     2 KiB  s3://bucket/cp/${JOB}/chk-2\n`);
  });

  it('shows size and age of what never completed, sizes and operators where they are known', () => {
    const left = entry(3, { status: 'incomplete', metadataBytes: null, leftFiles: 4, leftBytes: 5 * 2 ** 30 });
    expect(text(document([entry(2), left]), 80)).toMatch(/^ 3 +incomplete +2026\S+ +5 GiB +chk-3$/m);
    const sized = entry(2, { totalBytes: 3 * 2 ** 20, exclusiveBytes: 2 ** 20, operatorNames: ['a', 'b'] });
    const names = ['Source', 'Window', 'Join', 'Sink', 'Fifth', 'Sixth'];
    const shown = text(document([sized], { totalBytes: 3 * 2 ** 20, operatorNames: names }), 80);
    expect(shown).toContain('operators: Source, Window, Join, Sink, and 2 more\n');
    expect(shown).toMatch(/^ 2 +complete +1 h ago +3 MiB +1 MiB +chk-2$/m);
  });

  it('says why something is broken, below its row or beside it', () => {
    const broken = entry(2, {
      status: 'broken',
      error: { code: 'X', message: `s3://bucket/cp/${JOB}/chk-2: corrupt at byte 7` },
    });
    expect(text(document([broken]), 80)).toMatch(/broken.* chk-2\n {4}Error: s3:.*corrupt at\s+byte 7\n/);
    expect(text(document([broken]), 1000)).toMatch(/broken.*corrupt at byte 7\n/);
  });

  it('says that a job has nothing, and that there is nothing at all', () => {
    expect(text(document([], { newest: null, time: null, directory: null }), 80)).toBe(`Job ${JOB}\nno checkpoints\n`);
    expect(text({ ...document([]), jobs: [] }, 80)).toBe('No checkpoints or savepoints below s3://bucket/cp.\n');
  });

  it('adds up several jobs', () => {
    const one = document([entry(1)]);
    const two = { ...one, entries: [entry(1), entry(1)], jobs: [...one.jobs, ...one.jobs] };
    expect(text(two, 80)).toMatch(/\n\n2 jobs: 2 complete\n$/);
  });

  it('escapes a pointer for a terminal and leaves it alone for a script', () => {
    const odd = document([entry(1, { pointer: 's3://b/\u001b[2J' })]);
    expect(renderNewest(odd, view(80))).toBe('s3://b/\\x1b[2J\n');
    expect(renderNewest(odd, view(Number.POSITIVE_INFINITY))).toBe('s3://b/\u001b[2J\n');
  });
});
