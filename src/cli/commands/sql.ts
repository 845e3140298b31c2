import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { METADATA_FILE } from '../../operations/layout.js';
import { createOutput } from '../../operations/output-file.js';
import type { ConnectorRelease } from '../../operations/sql/connector-statement.js';
import { type SqlResult, writeSql } from '../../operations/sql/write-sql.js';
import { renderSavedSql, renderSql } from '../../report/sql.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import { outputPath } from '../output-path.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

interface Options extends LatestOptions {
  readonly java?: true;
  readonly state: readonly string[];
  readonly table?: string;
  readonly flink: ConnectorRelease;
  readonly out?: string;
  readonly overwrite?: true;
}

/** Runs `ckpt sql`. */
export const run: Run<Options> = async (context, [given = '', operator = ''], options) => {
  const { fileSystems, pointer, source } = await openPointer(context, given, options);
  let result: SqlResult;
  try {
    const { directory, metadataPath } = pointer;
    // Of a file with a name of its own, the directory would not do.
    const named = metadataPath.name === METADATA_FILE ? directory : metadataPath;
    const request = {
      ...{ pointer: named.toString(), operator, release: options.flink, java: options.java === true },
      ...{ table: options.table, states: options.state },
    };
    result = await writeSql(fileSystems, { source, directory, metadataPath }, request, context.signal);
  } finally {
    await source.close();
  }
  for (const { path, subtask, reason } of result.unread)
    context.warn(`not read: subtask ${subtask}, ${path}: ${reason}`);
  if (options.out === undefined) {
    await context.emit(result, renderSql);
  } else {
    const target = outputPath(fileSystems, options.out);
    if (result.statement !== null) await save(fileSystems, target, result.text, options.overwrite === true);
    await context.emit({ ...result, target: target.toString() }, renderSavedSql);
  }
  return result.statement === null || result.unread.length > 0 ? Exit.No : Exit.Ok;
};

async function save(fileSystems: FileSystems, target: Path, text: string, overwrite: boolean): Promise<void> {
  const writer = await createOutput(fileSystems, target, { overwrite });
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.commit();
  } finally {
    await writer.abort();
  }
}
