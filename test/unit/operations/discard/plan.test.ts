import { beforeEach, describe, expect, it } from 'vitest';
import { NoMetadataError, PointerNotFoundError, RefusedError, UsageError } from '../../../../src/errors.js';
import { Path } from '../../../../src/filesystem/path.js';
import { resolveTargets } from '../../../../src/operations/discard/targets.js';
import type { DiscardPlan } from '../../../../src/operations/discard/types.js';
import { DiscardTree, JOB, metadataNaming, OTHER_JOB, segment } from '../../../support/discard-tree.js';
import { relativeFile } from '../../../support/made-metadata.js';

let tree: DiscardTree;
beforeEach(() => {
  tree = new DiscardTree();
});

const chk = (number: number, job = JOB) => `${job}/chk-${number}`;
const shared = (name: string, job = JOB) => tree.at(`${job}/shared/${name}`);
const short = (path: string) => path.slice(tree.root.length + 1).replace(`${JOB}/`, '');
const goes = (plan: DiscardPlan) => plan.delete.map(({ path, step }) => `${step} ${short(path)}`);
const stays = (plan: DiscardPlan) =>
  plan.keep.map(({ path, reason, usedBy }) => `${reason} ${short(path)} ${usedBy.map(short).join(',')}`.trim());

async function refusal(work: Promise<unknown>, reason: string): Promise<void> {
  const error = await work.then(
    () => expect.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RefusedError);
  expect((error as RefusedError).data.reason).toBe(reason);
}

describe('what goes', () => {
  it('is the metadata, then every file once in the order of the metadata, then the directory', async () => {
    await tree.checkpoint(chk(1), ['b', 'a', shared('x'), 'a']);
    const plan = await tree.plan([chk(1)]);
    expect(goes(plan)).toEqual([
      'metadata chk-1/_metadata',
      'state chk-1/b',
      'state chk-1/a',
      'state shared/x',
      'location chk-1',
    ]);
    expect(plan.delete.map(({ bytes }) => bytes).slice(1)).toEqual([4, 4, 4, 0]);
    expect(plan.alreadyGone).toBe(0);
  });

  it('counts what is gone already and does not list it', async () => {
    await tree.checkpoint(chk(1), ['a', 'b', shared('x')]);
    await tree.memory.deleteFile(tree.path(`${chk(1)}/a`));
    await tree.memory.deleteFile(Path.parse(shared('x')));
    const plan = await tree.plan([chk(1)]);
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/b', 'location chk-1']);
    expect(plan.alreadyGone).toBe(2);
  });

  it('frees nothing where a file has another name', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.memory.link(tree.path(`${chk(1)}/a`), tree.path('elsewhere'));
    expect((await tree.plan([chk(1)])).delete.map(({ bytes }) => bytes).slice(1)).toEqual([0, 0]);
  });

  it('leaves the directory to entries that belong to nobody, and names them', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(1)}/notes.txt`);
    tree.put(`${chk(1)}/sub/file`);
    const plan = await tree.plan([chk(1)]);
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/a']);
    expect(plan.strayEntries.map(short)).toEqual(['chk-1/notes.txt', 'chk-1/sub']);
  });

  it('of several checkpoints is what only they use', async () => {
    await tree.checkpoint(chk(1), ['a', shared('x'), shared('y')]);
    await tree.checkpoint(chk(2), ['b', shared('x'), shared('y'), shared('z')]);
    await tree.checkpoint(chk(3), ['c', shared('y')]);
    const plan = await tree.plan([chk(1), chk(2)]);
    expect(goes(plan)).toEqual([
      'metadata chk-1/_metadata',
      'metadata chk-2/_metadata',
      'state chk-1/a',
      'state shared/x',
      'state chk-2/b',
      'state shared/z',
      'location chk-1',
      'location chk-2',
    ]);
    expect(stays(plan)).toEqual(['used-by-other shared/y chk-3']);
    expect(plan.search).toMatchObject({ roots: [tree.root], checkpoints: 3, metadataFiles: 1, searched: true });
  });

  it('counts a checkpoint that is named twice once', async () => {
    const directory = await tree.checkpoint(chk(1), ['a']);
    const plan = await tree.plan([chk(1), `${directory}/`, `${directory}/_metadata`]);
    expect(plan.targets.length).toBe(1);
  });
});

describe('what stays', () => {
  it('is what another job names, after a claim', async () => {
    await tree.checkpoint(chk(1), ['a', shared('x')]);
    await tree.checkpoint(chk(2, OTHER_JOB), [shared('x'), tree.at(`${chk(1)}/a`)]);
    const plan = await tree.plan([chk(1)]);
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata']);
    expect(stays(plan)).toEqual([
      `used-by-other chk-1/a ${OTHER_JOB}/chk-2`,
      `used-by-other shared/x ${OTHER_JOB}/chk-2`,
    ]);
    expect(plan.strayEntries).toEqual([]);
  });

  it('is a file of a savepoint that a checkpoint goes on using', async () => {
    const savepoint = 'savepoint-4f1a2b-0123456789ab';
    await tree.checkpoint(savepoint, ['a', 'b']);
    await tree.checkpoint(chk(2), [tree.at(`${savepoint}/b`)]);
    const plan = await tree.plan([savepoint], { roots: [Path.parse(tree.root)] });
    expect(goes(plan)).toEqual([`metadata ${savepoint}/_metadata`, `state ${savepoint}/a`]);
    expect(stays(plan)).toEqual([`used-by-other ${savepoint}/b chk-2`]);
  });

  it('is what metadata of another name in the directory says, and the metadata itself', async () => {
    await tree.checkpoint(chk(1), ['a', 'b']);
    tree.put(`${chk(1)}/copy`, metadataNaming(['b']));
    const plan = await tree.plan([chk(1)]);
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/a']);
    expect(stays(plan)).toEqual(['used-by-other chk-1/b chk-1/copy']);
    expect(plan.strayEntries).toEqual([]);
  });

  it('is what a half-discarded checkpoint names', async () => {
    await tree.checkpoint(chk(1), [shared('x')]);
    await tree.checkpoint(chk(2), [shared('x'), 'own']);
    await tree.memory.rename(tree.path(`${chk(1)}/_metadata`), tree.path(`${chk(1)}/_metadata.discarding`));
    expect(stays(await tree.plan([chk(2)]))).toEqual(['used-by-other shared/x chk-1/_metadata.discarding']);
  });

  it('is a merged file of which others have a part', async () => {
    await tree.checkpoint(chk(1), [segment(shared('merged'), 0), segment(shared('merged'), 2)]);
    await tree.checkpoint(chk(2), [segment(shared('merged'), 4)]);
    expect(stays(await tree.plan([chk(1)]))).toEqual(['shared-segment shared/merged chk-2']);
  });

  it('is everything outside the area, with the bytes that are recorded', async () => {
    const elsewhere = 'memory:/elsewhere/file';
    await tree.checkpoint(chk(1), ['a', elsewhere, 's3://bucket/file']);
    const plan = await tree.plan([chk(1)]);
    expect(plan.keep.map(({ path, reason, bytes }) => [path, reason, bytes])).toEqual([
      [elsewhere, 'outside-tree', 4],
      ['s3://bucket/file', 'outside-tree', 4],
    ]);
  });

  it('is not what lies in a directory that was added to the area, unless somebody there uses it', async () => {
    const elsewhere = 'memory:/elsewhere';
    await tree.checkpoint(chk(1), [`${elsewhere}/a`, `${elsewhere}/b`]);
    tree.memory.put(Path.parse(`${elsewhere}/chk-9/_metadata`), metadataNaming([`${elsewhere}/b`]));
    const plan = await tree.plan([chk(1)], { allowOutside: [Path.parse(elsewhere)] });
    expect(plan.delete.map(({ path }) => path)).toContain(`${elsewhere}/a`);
    expect(plan.keep).toMatchObject([{ path: `${elsewhere}/b`, usedBy: [`${elsewhere}/chk-9`] }]);
  });

  it('is merged and changelog files that are young, unless no job runs', async () => {
    await tree.checkpoint(chk(1), [segment(shared('young')), segment(shared('old')), 'plain']);
    await tree.checkpoint(chk(2), ['newest']);
    tree.put(`${JOB}/shared/young`, 'data', 5000);
    tree.put(`${chk(1)}/plain`, 'data', 5000);
    const options = { job: 'may-run', minAge: 1000, now: 6000 } as const;
    const plan = await tree.plan([chk(1)], options);
    expect(stays(plan)).toEqual(['young shared/young']);
    expect(stays(await tree.plan([chk(1)], { ...options, job: 'stopped' }))).toEqual([]);
  });

  it('is nothing if others do not count', async () => {
    await tree.checkpoint(chk(1), [shared('x')]);
    await tree.checkpoint(chk(2), [shared('x')]);
    const plan = await tree.plan([chk(1)], { otherUsers: 'ignore' });
    expect(stays(plan)).toEqual([]);
    expect(plan.search.searched).toBe(false);
  });

  it('is everything outside the own directory, if that is asked for', async () => {
    await tree.checkpoint(chk(1), ['a', shared('x'), shared('y')]);
    await tree.checkpoint(chk(2), [shared('y')]);
    const plan = await tree.plan([chk(1)], { scope: 'own-directories' });
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/a', 'location chk-1']);
    expect(stays(plan)).toEqual(['outside-tree shared/x', 'used-by-other shared/y chk-2']);
  });
});

describe('directories of file merging', () => {
  const managed = `${JOB}/shared/job_${JOB}_op_38226e04_0_2`;

  it('go when they are empty and nobody else names them', async () => {
    await tree.checkpoint(chk(1), [segment(tree.at(`${managed}/merged`))]);
    expect(goes(await tree.plan([chk(1)]))).toContain(`location ${short(tree.at(managed))}`);
    await tree.discard([chk(1)]);
    expect(await tree.exists(managed)).toBe(false);
    expect(await tree.exists(`${JOB}/shared`)).toBe(true);
  });

  it('stay while something is in them', async () => {
    await tree.checkpoint(chk(1), [segment(tree.at(`${managed}/merged`))]);
    tree.put(`${managed}/other`);
    await tree.discard([chk(1)]);
    expect(tree.names()).toEqual([`${managed}/other`]);
  });
});

describe('the area', () => {
  it('is by default the directory above that of the job, or the one above the checkpoint', async () => {
    const roots = async (pointer: string) =>
      (await resolveTargets(tree.fileSystems, [tree.at(pointer)])).area.roots.map(String);
    await tree.checkpoint(chk(1), []);
    await tree.checkpoint('flat/chk-1', []);
    await tree.checkpoint('savepoints/savepoint-4f1a2b-0123456789ab', []);
    expect(await roots(chk(1))).toEqual([tree.root]);
    expect(await roots('flat/chk-1')).toEqual([tree.at('flat')]);
    expect(await roots('savepoints/savepoint-4f1a2b-0123456789ab')).toEqual([tree.at('savepoints')]);
  });

  it('must hold the checkpoint, and be more than it', async () => {
    await tree.checkpoint(chk(1), []);
    await refusal(tree.plan([chk(1)], { roots: [tree.path(OTHER_JOB)] }), 'outside');
    await expect(tree.plan([chk(1)], { roots: [tree.path(chk(1))] })).rejects.toThrow(UsageError);
  });

  it('holds names with other spellings of a scheme only if that is said', async () => {
    const aliased = new DiscardTree({ kind: 'object-store', scheme: 's3' });
    const named = aliased.at(`${JOB}/shared/x`).replace('s3:', 's3a:');
    aliased.put(`${JOB}/shared/x`);
    aliased.put(`${chk(1)}/_metadata`, metadataNaming([named]));
    const plan = await aliased.plan([chk(1)]);
    expect(plan.keep).toMatchObject([{ path: named, reason: 'outside-tree' }]);
  });

  it('keeps a file that another one names by another spelling of its scheme', async () => {
    const aliased = new DiscardTree({ kind: 'object-store', scheme: 's3' });
    await aliased.checkpoint(chk(1), [aliased.at(`${JOB}/shared/x`)]);
    const named = aliased.at(`${JOB}/shared/x`).replace('s3:', 's3a:');
    aliased.put(`${chk(2)}/_metadata`, metadataNaming([named]));
    expect((await aliased.plan([chk(1)])).keep).toMatchObject([{ reason: 'used-by-other' }]);
  });

  it('cannot hold the place that files are moved to, nor lie in it', async () => {
    await tree.checkpoint(chk(1), []);
    for (const place of ['memory:/root/trash', 'memory:/root', 'memory:/']) {
      await refusal(tree.plan([chk(1)], { moveTo: Path.parse(place) }), 'move-to');
    }
    expect((await tree.plan([chk(1)], { moveTo: Path.parse('memory:/root-trash') })).targets.length).toBe(1);
  });
});

describe('is refused', () => {
  it.each([
    ['relative and leading out', '../../other/file'],
    ['relative and staying inside', 'sub/../a'],
    ['with backslashes', '..\\\\..\\\\file'],
  ])('for a path with "..": %s', async (_what, path) => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(1)}/_metadata`, metadataNaming([relativeFile(path), 'a']));
    await refusal(tree.plan([chk(1)]), 'crafted-path');
  });

  it('for an absolute path with "..", wherever it stands', async () => {
    for (const path of [`${tree.root}/${JOB}/../x/file`, `${tree.root}/../file`, `${tree.root}/..`]) {
      tree.put(`${chk(1)}/_metadata`, metadataNaming([path]));
      await refusal(tree.plan([chk(1)]), 'crafted-path');
    }
  });

  it('for metadata that is named as state', async () => {
    await tree.checkpoint(chk(2), ['b']);
    tree.put(`${chk(1)}/_metadata`, metadataNaming([tree.at(`${chk(2)}/_metadata`)]));
    await refusal(tree.plan([chk(1)]), 'crafted-path');
  });

  it('for nothing that is metadata under another name: that stays', async () => {
    await tree.checkpoint(chk(2), ['b']);
    const other = tree.put(`${chk(2)}/other`, metadataNaming(['b']));
    tree.put(`${chk(1)}/_metadata`, metadataNaming([other]));
    expect(stays(await tree.plan([chk(1)]))).toEqual(['used-by-other chk-2/other chk-2/other']);
  });

  it('for metadata in the area that cannot be read, unless nothing shared goes or others do not count', async () => {
    await tree.checkpoint(chk(1), ['a', shared('x')]);
    tree.put(`${OTHER_JOB}/chk-7/_metadata`, 'broken');
    await refusal(tree.plan([chk(1)]), 'unreadable');
    const plan = await tree.plan([chk(1)], { scope: 'own-directories' });
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/a', 'location chk-1']);
    expect(plan.search.unreadable).toMatchObject([{ path: tree.at(`${OTHER_JOB}/chk-7/_metadata`) }]);
    expect(goes(await tree.plan([chk(1)], { otherUsers: 'ignore' }))).toContain('state shared/x');
  });

  it('for a broken copy of metadata beside it', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(1)}/copy`, metadataNaming(['a']).slice(0, 40));
    await refusal(tree.plan([chk(1)]), 'unreadable');
  });

  describe('for the newest complete checkpoint of a job', () => {
    const options = { job: 'may-run', minAge: 1000, now: 6000 } as const;

    it('if something of the job is young', async () => {
      await tree.checkpoint(chk(9), ['a']);
      await tree.checkpoint(chk(10), ['b']);
      tree.put(`${JOB}/shared/fresh`, 'data', 5500);
      await refusal(tree.plan([chk(10)], options), 'newest');
      await refusal(tree.plan([chk(9), chk(10)], options), 'newest');
      expect((await tree.plan([chk(9)], options)).targets.length).toBe(1);
      expect((await tree.plan([chk(10)], { ...options, job: 'stopped' })).targets.length).toBe(1);
      expect((await tree.plan([chk(10)], { ...options, minAge: 100 })).targets.length).toBe(1);
      expect((await tree.plan([chk(10)], { ...options, minAge: 0 })).targets.length).toBe(1);
    });

    it('if a time is in the future', async () => {
      await tree.checkpoint(chk(1), ['a']);
      tree.put(`${chk(1)}/a`, 'data', 99_000);
      await refusal(tree.plan([chk(1)], options), 'newest');
    });

    it('but not for the youth of another job', async () => {
      await tree.checkpoint(chk(1), ['a']);
      await tree.checkpoint(chk(1, OTHER_JOB), ['a']);
      tree.put(`${chk(1, OTHER_JOB)}/a`, 'data', 5500);
      expect((await tree.plan([chk(1)], options)).targets.length).toBe(1);
    });

    it('though a later directory holds no metadata', async () => {
      await tree.checkpoint(chk(1), ['a']);
      tree.put(`${chk(2)}/upload`, 'data', 5500);
      await refusal(tree.plan([chk(1)], options), 'newest');
    });

    it('without a directory of the job as well', async () => {
      await tree.checkpoint('flat/chk-1', ['a']);
      await tree.checkpoint('flat/chk-2', [tree.at('flat/shared/x')]);
      tree.put('flat/shared/x', 'data', 5500);
      await refusal(tree.plan(['flat/chk-2'], options), 'newest');
      expect((await tree.plan(['flat/chk-1'], options)).targets.length).toBe(1);
    });
  });
});

describe('pointers', () => {
  it('that lead nowhere do not keep the others', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(3)}/upload`);
    const plan = await tree.plan([chk(1), chk(2), chk(3)]);
    expect(plan.targets.length).toBe(1);
    expect(plan.failed.map(({ error }) => error)).toEqual([
      expect.any(PointerNotFoundError),
      expect.any(NoMetadataError),
    ]);
  });

  it('with broken metadata fail, and of a chk-N everything in it goes on request', async () => {
    await tree.checkpoint(chk(1), ['a', shared('x')]);
    const broken = metadataNaming(['a', shared('x')]).slice(0, -20);
    tree.put(`${chk(1)}/_metadata`, broken);
    tree.put(`${chk(1)}/unknown`);
    tree.put('backup/_metadata', broken);
    expect((await tree.plan([chk(1)])).failed).toMatchObject([{ error: { code: 'CORRUPT_METADATA' } }]);
    const plan = await tree.plan([chk(1)], { unreadable: 'own-directory', otherUsers: 'ignore' });
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/a', 'state chk-1/unknown', 'location chk-1']);
    const other = await tree.plan(['backup'], { unreadable: 'own-directory', otherUsers: 'ignore' });
    expect(other.failed).toMatchObject([{ error: { code: 'CORRUPT_METADATA' } }]);
  });

  it('with broken metadata keep what a good copy beside it names, and the copy', async () => {
    await tree.checkpoint(chk(1), ['a', 'b']);
    tree.put(`${chk(1)}/_metadata`, 'broken');
    tree.put(`${chk(1)}/good`, metadataNaming(['a']));
    const plan = await tree.plan([chk(1)], { unreadable: 'own-directory' });
    expect(goes(plan)).toEqual(['metadata chk-1/_metadata', 'state chk-1/b']);
    expect(stays(plan)).toEqual(['used-by-other chk-1/a chk-1/good', 'used-by-other chk-1/good chk-1/good']);
  });

  it('may be metadata files of any name', async () => {
    await tree.checkpoint(chk(1), ['a', 'b']);
    tree.put(`${chk(1)}/other`, metadataNaming(['b', 'c']));
    tree.put(`${chk(1)}/c`);
    const plan = await tree.plan([tree.at(`${chk(1)}/other`)]);
    expect(goes(plan)).toEqual(['metadata chk-1/other', 'state chk-1/c']);
    expect(stays(plan)).toEqual(['used-by-other chk-1/b chk-1']);
  });

  it('may be tombstones', async () => {
    await tree.checkpoint(chk(1), ['a']);
    await tree.memory.rename(tree.path(`${chk(1)}/_metadata`), tree.path(`${chk(1)}/_metadata.discarding`));
    for (const pointer of [chk(1), `${chk(1)}/_metadata`, `${chk(1)}/_metadata.discarding`]) {
      expect(goes(await tree.plan([tree.at(pointer)]))).toEqual([
        'metadata chk-1/_metadata.discarding',
        'state chk-1/a',
        'location chk-1',
      ]);
    }
  });
});

describe('the marker of a copy', () => {
  const marker = (refreshed: number) =>
    JSON.stringify({
      source: 'memory:/elsewhere/_metadata',
      checkpointId: '1',
      metadataSize: 1,
      changes: '',
      run: 'r',
      host: 'another-host',
      pid: 1,
      refreshed: new Date(refreshed).toISOString(),
    });
  const now = 1_000_000_000_000;

  it('that a killed run left goes with the rest', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(1)}/.ckpt-copying`, marker(now - 3_600_000));
    const plan = await tree.plan([chk(1)], { now });
    expect(goes(plan)).toEqual([
      'metadata chk-1/_metadata',
      'state chk-1/a',
      'state chk-1/.ckpt-copying',
      'location chk-1',
    ]);
    expect(await tree.discard([chk(1)], { now })).toMatchObject({ done: true, strayEntries: [] });
    expect(tree.names()).toEqual([]);
  });

  it('of a copy that is going on is a refusal', async () => {
    await tree.checkpoint(chk(1), ['a']);
    tree.put(`${chk(1)}/.ckpt-copying`, marker(now - 10_000));
    await refusal(tree.plan([chk(1)], { now }), 'copying');
  });
});
