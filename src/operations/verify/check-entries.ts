/** Takes every entry of a file of key groups apart: key, namespace and value, each as its serializer snapshot says. */
import type { KeyGroupsForm } from '../state/keyed-file.js';
import type { KeyGroupsPiece } from '../state/pieces.js';
import type { StateBytes } from '../state/state-bytes.js';
import { walkKeyGroups } from '../state/walk-key-groups.js';
import { type CheckResult, SOUND } from './state-task.js';

/**
 * Checks that entries fill each key group exactly.
 * @throws ByteFormatError; the errors of reading
 */
export async function checkEntries(bytes: StateBytes, form: KeyGroupsForm): Promise<CheckResult> {
  const { firstKeyGroup, offsets } = form;
  const piece: KeyGroupsPiece = {
    ...form,
    kind: 'key-groups',
    source: { kind: 'inline', name: '', bytes: new Uint8Array(0) },
    range: { first: firstKeyGroup, last: firstKeyGroup + offsets.length - 1 },
  };
  let unreached = false;
  const walk = walkKeyGroups(bytes, piece, {
    isWanted: () => true,
    onState: () => {},
    onLost: () => {
      unreached = true;
    },
  });
  for await (const _ of walk);
  if (!unreached) return SOUND;
  return { kind: 'unjudged', what: 'keyed states with values that only their own classes can take apart' };
}
