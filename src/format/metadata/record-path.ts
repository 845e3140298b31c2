/** Where in a metadata file the decoder is, in words: kept as numbers, put together only for an error. */
import { HandleList, Slot } from './visitor.js';

const SLOT_NAMES: Readonly<Record<Slot, string>> = {
  [Slot.ManagedOperator]: 'managed operator state',
  [Slot.RawOperator]: 'raw operator state',
  [Slot.ManagedKeyed]: 'managed keyed state',
  [Slot.RawKeyed]: 'raw keyed state',
  [Slot.InputChannel]: 'input channel state',
  [Slot.ResultSubpartition]: 'result subpartition state',
};

const LIST_NAMES: Readonly<Record<HandleList, string>> = {
  [HandleList.Shared]: 'shared file',
  [HandleList.Private]: 'private file',
  [HandleList.Materialized]: 'materialized handle',
  [HandleList.NonMaterialized]: 'non-materialized handle',
  [HandleList.ChangelogFiles]: 'changelog file',
  [HandleList.Changes]: 'change',
};

/** All indexes count from 0. */
export class RecordPath {
  masterState = -1;
  operator = -1;
  operatorId = '';
  subtask = -1;
  slot: Slot | -1 = -1;
  /** Index of a channel handle in its slot. */
  channel = -1;
  /** Pairs of list and index, one for each level of nesting. */
  readonly lists: [HandleList, number][] = [];
  /** A part without siblings: `coordinator state`, `properties`, … */
  part = '';

  /** E.g. `operator 3 / subtask 1 / managed keyed state / shared file 7`; `header` outside everything. */
  toString(): string {
    const steps: string[] = [];
    if (this.masterState >= 0) steps.push(`master state ${this.masterState}`);
    if (this.operator >= 0) steps.push(`operator ${this.operator}`);
    if (this.subtask >= 0) steps.push(`subtask ${this.subtask}`);
    if (this.slot >= 0) steps.push(SLOT_NAMES[this.slot as Slot]);
    if (this.channel >= 0) steps.push(`channel handle ${this.channel}`);
    for (const [list, index] of this.lists) steps.push(`${LIST_NAMES[list]} ${index}`);
    if (this.part !== '') steps.push(this.part);
    return steps.length > 0 ? steps.join(' / ') : 'header';
  }
}
