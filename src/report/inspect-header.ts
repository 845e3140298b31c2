/** The header of `ckpt inspect`: what it is, which Flink wrote it, how big, where its bytes are, whether it can be moved. */
import type { InspectedOperator, InspectResult } from '../operations/inspect-result.js';
import { formatAge, formatBytes, formatCount, formatExactBytes, formatPercent, formatTime, plural } from './format.js';
import { shortName } from './inspect-table.js';
import { printable } from './printable.js';
import { describeRetention } from './retention.js';
import { renderFields } from './table.js';
import { renderTitle } from './title.js';
import type { View } from './view.js';
import { textWidth } from './wrap.js';

/** The first version that says what kind of snapshot it is. */
const FIRST_WITH_PROPERTIES = 4;
const LONGEST_HEADER_NAME = 60;
const NAMED_IN_HEADER = 5;

/** What kind of snapshot it is, in words. */
function describeKind(document: InspectResult): string {
  const { kind, formatType, version } = document;
  const traits = (['incremental', 'unaligned', 'changelog', 'fileMerging'] as const)
    .filter((trait) => document[trait])
    .map((trait) => (trait === 'fileMerging' ? 'file merging' : trait));
  return [kind === 'unknown' ? unknownKind(document.pointer, version) : kind, formatType?.toLowerCase(), ...traits]
    .filter((part) => part !== undefined)
    .join(', ');
}

function unknownKind(pointer: string, version: number): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  const like = name.startsWith('savepoint-') ? 'savepoint' : /^chk-\d+$/.test(name) ? 'checkpoint' : undefined;
  const silent =
    version < FIRST_WITH_PROPERTIES ? `metadata version ${version} does not say` : 'the metadata does not say';
  return like === undefined ? `checkpoint or savepoint (${silent})` : `${like} by its name (${silent})`;
}

/** All of it. */
export function renderHeader(document: InspectResult, view: View): string {
  const { style } = view;
  const { masterStates } = document;
  return (
    renderTitle(printable(document.pointer), view) +
    renderFields(
      [
        ...identity(document, view),
        ['Full size', formatExactBytes(BigInt(document.stateSize)), style.name],
        ['Added by it', added(document)],
        ['Inline', document.inlineBytes > 0 ? `${formatBytes(document.inlineBytes)} inside the metadata` : undefined],
        ['In files', inFiles(document)],
        ['Metadata', `${formatBytes(document.metadataSize)} in ${metadataName(document)}`],
        ['Can be moved', movable(document), document.relocatable === 'foreign' ? style.warning : style.good],
        ['Looks copied', copied(document), style.warning],
        ['Retention', describeRetention(document)],
        ['Max parallelism', maxParallelism(document)],
        [
          'Master states',
          masterStates.length > 0
            ? masterStates.map(({ name, size }) => `${name} (${formatBytes(size)})`).join(', ')
            : undefined,
        ],
        [
          'After the end',
          document.trailingBytes > 0 ? `${plural(document.trailingBytes, 'byte')} that Flink ignores` : undefined,
          style.warning,
        ],
      ],
      view,
    )
  );
}

/** The header when the question was about one operator. */
export function renderShortHeader(document: InspectResult, view: View): string {
  return renderTitle(printable(document.pointer), view) + renderFields(identity(document, view), view);
}

function identity(document: InspectResult, view: View): [label: string, value: string | undefined][] {
  const time = Date.parse(document.time);
  return [
    ['Checkpoint id', String(document.checkpointId)],
    ['Kind', describeKind(document)],
    ['Written', `${formatTime(time)} (${formatAge(time, view.now)})`],
    ['Job', document.jobId ?? undefined],
    ['Flink', `${document.flinkVersions} (derived from metadata version ${document.version})`],
  ];
}

/** The name of the metadata file, or its path if it is not where it belongs. */
function metadataName({ pointer, metadataPath }: InspectResult): string {
  return metadataPath.startsWith(`${pointer}/`) ? metadataPath.slice(pointer.length + 1) : metadataPath;
}

function added({ checkpointedSize, stateSize }: InspectResult): string {
  if (BigInt(stateSize) === 0n) return formatExactBytes(BigInt(checkpointedSize));
  return `${formatExactBytes(BigInt(checkpointedSize))}, ${formatPercent(BigInt(checkpointedSize), BigInt(stateSize))} of the full size`;
}

function inFiles(document: InspectResult): string {
  if (document.files === 0) return 'none: everything is inside the metadata';
  const byRole = new Map<string, { files: number; bytes: number }>();
  for (const { role, files, bytes } of document.directories) {
    const sum = byRole.get(role) ?? { files: 0, bytes: 0 };
    byRole.set(role, { files: sum.files + files, bytes: sum.bytes + bytes });
  }
  const parts = [...byRole].filter(([, { files }]) => files > 0);
  const [only, ...others] = parts;
  const where =
    others.length === 0
      ? `, all ${only?.[0]}`
      : `: ${parts.map(([role, { files, bytes }]) => `${role} ${formatBytes(bytes)} in ${formatCount(files)}`).join(', ')}`;
  return `${formatBytes(document.fileBytes)} in ${plural(document.files, 'file')}${where}`;
}

function movable({ relocatable, directories }: InspectResult): string {
  const others = directories.filter(({ role }) => role !== 'exclusive');
  switch (relocatable) {
    case 'inline':
      return 'yes: everything is inside the metadata';
    case 'relative':
      return 'yes: a plain copy of the directory works, all files are named relative to it';
    case 'absolute-inside':
      return 'not by a plain copy: all files are in this directory, but named by absolute paths that would still point here; ckpt rebase mends a copy';
    case 'foreign':
      return `not by itself: it refers to ${plural(others.length, 'other directory', 'other directories')} (below); ckpt copy collects the files`;
  }
}

/** Where it seems to have lain when its metadata was written, if the paths in it say so. */
function copied({ pointer, jobId, directories }: InspectResult): string | undefined {
  const own = pointer.slice(pointer.lastIndexOf('/'));
  const job = jobId === null ? undefined : `/${jobId}`;
  for (const { uri, role } of directories) {
    if (role !== 'foreign' && role !== 'changelog') continue;
    const part = uri.endsWith(own) ? own : job !== undefined && `${uri}/`.includes(`${job}/`) ? job : undefined;
    if (part === undefined) continue;
    const old = uri.slice(0, `${uri}/`.lastIndexOf(`${part}/`));
    const here = pointer.slice(0, `${pointer}/`.lastIndexOf(`${part}/`));
    if (old === here) continue;
    const map = [old, here].map((side) => side.replaceAll('=', String.raw`\=`)).join('=');
    return `from ${old}: its files are named there; --map ${map} looks them up here`;
  }
  return undefined;
}

/** One value where all agree; else all values and who has the rare ones. It matters for keyed state only. */
function maxParallelism({ operatorStates }: InspectResult): string | undefined {
  const byValue = new Map<number, InspectedOperator[]>();
  for (const operator of operatorStates) {
    const same = byValue.get(operator.maxParallelism);
    if (same) same.push(operator);
    else byValue.set(operator.maxParallelism, [operator]);
  }
  const groups = [...byValue].sort((a, b) => b[1].length - a[1].length);
  const [usual, ...rest] = groups;
  if (!usual || rest.length === 0) return usual && String(usual[0]);
  const deviating = rest.map(([value, who]) => {
    const names = who.length > NAMED_IN_HEADER ? plural(who.length, 'operator') : who.map(nameForHeader).join(', ');
    return `${value} (${names}${who.some(({ backend }) => backend !== null) ? '' : ', no keyed state'})`;
  });
  return `${usual[0]} (${plural(usual[1].length, 'operator')}), ${deviating.join(', ')}`;
}

/** A name that does not fill the header; none is cut. */
function nameForHeader(operator: InspectedOperator): string {
  const name = shortName(operator);
  return textWidth(name) > LONGEST_HEADER_NAME ? operator.operatorId : name;
}
