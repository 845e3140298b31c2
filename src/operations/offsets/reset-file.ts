/** Offsets as `kafka-consumer-groups --reset-offsets --from-file` reads them: a line `topic,partition,offset` each. */
import { UsageError } from '../../errors.js';
import type { SourceOffset } from './result.js';

/** The lines, and how many partitions have no offset that could be set. */
export interface ResetFile {
  readonly lines: readonly string[];
  readonly left: readonly SourceOffset[];
}

/** What must stand in quotes in CSV. Kafka allows none of it in the name of a topic. */
const SPECIAL = /[",\r\n]/;

/**
 * Makes the file of one consumer group.
 * @throws UsageError if two sources have one partition at different offsets: the group can have only one
 */
export function resetFile(sources: readonly SourceOffset[]): ResetFile {
  const seen = new Map<string, SourceOffset>();
  const lines: string[] = [];
  const left: SourceOffset[] = [];
  for (const source of sources) {
    const { topic, partition, offset } = source;
    if (offset === null) {
      left.push(source);
      continue;
    }
    const key = `${partition} ${topic}`;
    const other = seen.get(key);
    if (other === undefined) lines.push(`${csvText(topic)},${partition},${offset}`);
    else if (other.offset !== offset) {
      throw new UsageError(
        `partition ${partition} of ${topic} is at ${other.offset} in operator ${other.operatorId} and at ${offset} in ${source.operatorId}: name the operator whose offsets are wanted`,
        { topic, partition, operators: [other.operatorId, source.operatorId] },
      );
    }
    seen.set(key, source);
  }
  return { lines, left };
}

function csvText(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
