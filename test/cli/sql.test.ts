import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureCase } from '../support/corpus.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

/** `ckpt sql` on the first pointer of a fixture that ends so, under the path where Flink wrote it. */
function sql(fixture: string, end: string, operator: string, ...options: readonly string[]) {
  const { mapping, pointers } = fixtureCase(fixture);
  const pointer = pointers.find(({ externalPointer }) => externalPointer.includes(end));
  return runCkpt([
    'sql',
    pointer?.externalPointer ?? '',
    operator,
    '--map',
    `${mapping.uri}=${mapping.directory}`,
    ...options,
  ]);
}

describe('ckpt sql', () => {
  it('writes a statement for heap state', async () => {
    const { stdout, stderr, exitCode } = await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatchInlineSnapshot(`
      "-- Keyed state of operator 38226e048304984ca1b417bdd423c6d5 (Keyed states, uid orders-keyed), in file:/tmp/flink/checkpoints/2.3.0/hashmap-inline/fefa2903be31f18155ff09db6fc6f6d2/chk-2
      -- For Flink 2.3 with flink-state-processor-api on the class path.
      -- Must be on the class path, too:
      --   flinklab.jobs.KeyedStates$Profile
      -- To know:
      --   expiring: with the time of the last access, in milliseconds; expired values are there too, because no snapshot says how long they live
      -- Left out (ckpt sql --java --state NAME writes a job that reads it):
      --   sum: the connector does not read reducing states
      --   _timer_state/processing_user-timers: the connector does not read timers
      --   _timer_state/event_user-timers: the connector does not read timers
      CREATE TABLE \`orders-keyed\` (
        \`key\` STRING,
        \`expiring\` ROW<\`userValue\` STRING, \`lastAccessTimestamp\` BIGINT>,
        \`last\` ROW<\`f0\` STRING, \`f1\` BIGINT>,
        \`buckets\` MAP<STRING, BIGINT>,
        \`profile\` ROW<\`name\` STRING, \`visits\` BIGINT>,
        \`count\` BIGINT,
        \`recent\` ARRAY<BIGINT>,
        PRIMARY KEY (\`key\`) NOT ENFORCED
      ) WITH (
        'connector' = 'savepoint',
        'state.backend.type' = 'hashmap',
        'state.path' = 'file:/tmp/flink/checkpoints/2.3.0/hashmap-inline/fefa2903be31f18155ff09db6fc6f6d2/chk-2',
        'operator.uid' = 'orders-keyed',
        'fields.expiring.state-type' = 'VALUE',
        'fields.last.state-type' = 'VALUE',
        'fields.buckets.state-type' = 'MAP',
        'fields.profile.state-type' = 'VALUE',
        'fields.count.state-type' = 'VALUE',
        'fields.recent.state-type' = 'LIST'
      );

      SELECT * FROM \`orders-keyed\`;
      "
    `);
  });

  it('finds an operator of older metadata by its uid, and takes any backend for a canonical savepoint', async () => {
    const { stdout, exitCode } = await sql(
      'flink-1.20.5/savepoint-stop',
      'savepoint-',
      'orders-keyed',
      '--table',
      'my `table`',
      '--state',
      'buckets',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "-- Keyed state of operator 38226e048304984ca1b417bdd423c6d5 (uid orders-keyed), in file:/tmp/flink/checkpoints/1.20.5/savepoint-stop/savepoint-944673-d9d0be9f5091
      -- For Flink 2.3 with flink-state-processor-api on the class path.
      CREATE TABLE \`my \`\`table\`\`\` (
        \`key\` STRING,
        \`buckets\` MAP<STRING, BIGINT>,
        PRIMARY KEY (\`key\`) NOT ENFORCED
      ) WITH (
        'connector' = 'savepoint',
        'state.backend.type' = 'rocksdb',
        'state.path' = 'file:/tmp/flink/checkpoints/1.20.5/savepoint-stop/savepoint-944673-d9d0be9f5091',
        'operator.uid' = 'orders-keyed',
        'fields.buckets.state-type' = 'MAP'
      );

      SELECT * FROM \`my \`\`table\`\`\`;
      "
    `);
  });

  it('names the hash where the user names no uid', async () => {
    const { stdout } = await sql('flink-1.20.5/savepoint-stop', 'savepoint-', '38226e', '--state', 'count');
    expect(stdout).toContain("'operator.uid.hash' = '38226e048304984ca1b417bdd423c6d5'");
    expect(stdout).not.toContain("'operator.uid' =");
  });

  it('writes a job for RocksDB, and says why; SQL for a Flink whose connector reads it', async () => {
    const job = await sql('flink-2.3.0/rocksdb-incremental', 'chk-3', 'orders-keyed');
    expect(job.exitCode).toBe(0);
    expect(job.stdout.slice(0, job.stdout.indexOf('import '))).toMatchInlineSnapshot(`
      "// Prints the state of operator 38226e048304984ca1b417bdd423c6d5 (Keyed states, uid orders-keyed), in
      // file:/tmp/flink/checkpoints/2.3.0/rocksdb-incremental/a9bb24628cd66d4aa93ef718aab300a1/chk-3, a line of JSON for each entry.
      // A job of the State Processor API and no SQL: the connector of Flink 2.3 refuses the files of RocksDB (Unsupported KeyedStateHandle type), those of 2.1 and 2.2 read them: --flink 2.2.
      // Needs flink-state-processor-api, flink-statebackend-rocksdb (Flink 2.3) on the class path. To try it: javac ReadOrdersKeyed.java, java ReadOrdersKeyed.
      // To know:
      //   a key may come twice, with the same values: Flink 2.3 merges the keys of several states by signed bytes, and its tables are in the order of unsigned ones; of a single state (--state) each comes once

      "
    `);
    const statement = await sql('flink-2.3.0/rocksdb-incremental', 'chk-3', 'orders-keyed', '--flink', '2.2');
    expect(statement.stdout).toMatchInlineSnapshot(`
      "-- Keyed state of operator 38226e048304984ca1b417bdd423c6d5 (Keyed states, uid orders-keyed), in file:/tmp/flink/checkpoints/2.3.0/rocksdb-incremental/a9bb24628cd66d4aa93ef718aab300a1/chk-3
      -- For Flink 2.2 with flink-state-processor-api on the class path.
      -- Left out (ckpt sql --java --state NAME writes a job that reads it):
      --   _timer_state/processing_user-timers: the connector does not read timers
      --   _timer_state/event_user-timers: the connector does not read timers
      CREATE TABLE \`orders-keyed\` (
        \`key\` STRING,
        \`count\` BIGINT,
        \`buckets\` MAP<STRING, BIGINT>,
        PRIMARY KEY (\`key\`) NOT ENFORCED
      ) WITH (
        'connector' = 'savepoint',
        'state.backend.type' = 'rocksdb',
        'state.path' = 'file:/tmp/flink/checkpoints/2.3.0/rocksdb-incremental/a9bb24628cd66d4aa93ef718aab300a1/chk-3',
        'operator.uid' = 'orders-keyed',
        'fields.count.state-type' = 'VALUE',
        'fields.buckets.state-type' = 'MAP'
      );

      SELECT * FROM \`orders-keyed\`;
      "
    `);
  });

  it('writes a job for operator state', async () => {
    const { stdout, exitCode } = await sql('flink-2.3.0/operator-state', 'chk-2', 'apply-rules');
    expect(exitCode).toBe(0);
    expect(stdout.slice(0, stdout.indexOf('    /** Text of JSON'))).toMatchInlineSnapshot(`
      "// Prints the state of operator 45678d710830580513b2107dcfc42985 (Apply rules, uid apply-rules), in
      // file:/tmp/flink/checkpoints/2.3.0/operator-state/240a066ba4da1b9dba13be5f8ce1ea55/chk-2, a line of JSON for each entry.
      // A job of the State Processor API and no SQL: the connector reads keyed state only, and there is none.
      // Needs flink-state-processor-api (Flink 2.3) on the class path. To try it: javac ReadApplyRules.java, java ReadApplyRules.

      import java.lang.reflect.Array;
      import java.util.ArrayList;
      import java.util.Base64;
      import java.util.List;
      import java.util.Map;
      import org.apache.flink.api.common.RuntimeExecutionMode;
      import org.apache.flink.api.common.functions.MapFunction;
      import org.apache.flink.api.common.typeinfo.TypeInformation;
      import org.apache.flink.api.common.typeinfo.Types;
      import org.apache.flink.api.java.tuple.Tuple2;
      import org.apache.flink.api.java.tuple.Tuple;
      import org.apache.flink.api.java.typeutils.PojoTypeInfo;
      import org.apache.flink.api.java.typeutils.TypeExtractor;
      import org.apache.flink.runtime.state.StateBackend;
      import org.apache.flink.runtime.state.VoidNamespace;
      import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
      import org.apache.flink.runtime.state.ttl.TtlValue;
      import org.apache.flink.state.api.OperatorIdentifier;
      import org.apache.flink.state.api.SavepointReader;
      import org.apache.flink.streaming.api.datastream.DataStream;
      import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
      import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
      import org.apache.flink.types.Either;
      import org.apache.flink.types.Row;

      public final class ReadApplyRules {
          private static final String POINTER = "file:/tmp/flink/checkpoints/2.3.0/operator-state/240a066ba4da1b9dba13be5f8ce1ea55/chk-2";
          private static final OperatorIdentifier OPERATOR = OperatorIdentifier.forUid("apply-rules");

          public static void main(String[] args) throws Exception {
              StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
              env.setRuntimeMode(RuntimeExecutionMode.BATCH);
              SavepointReader savepoint = SavepointReader.read(env, POINTER, stateBackend());
              DataStream<String> rows =
                      savepoint.readBroadcastState(OPERATOR, "rules", any(Types.LONG), any(Types.STRING))
                              .map(new Entries("rules"), Types.STRING);
              // Put a sink here for more than a look: what is printed goes to the output of the task managers.
              rows.print().setParallelism(1);
              env.execute("State of apply-rules");
          }

          private static StateBackend stateBackend() {
              return new HashMapStateBackend();
          }

          /** Prints the entries of a broadcast state. */
          private static final class Entries implements MapFunction<Tuple2<Object, Object>, String> {
              private static final long serialVersionUID = 1L;
              private final String state;

              Entries(String state) {
                  this.state = state;
              }

              @Override
              public String map(Tuple2<Object, Object> entry) {
                  return row(state, entry.f0, null, "value", entry.f1);
              }
          }

          /** Values are handled as objects: what they are, their types say. */
          @SuppressWarnings("unchecked")
          private static TypeInformation<Object> any(TypeInformation<?> type) {
              return (TypeInformation<Object>) type;
          }

          /** A line as \`ckpt read --jsonl\` has it. */
          private static String row(String state, Object key, Object namespace, String what, Object value) {
              return "{\\"state\\":" + json(state) + ",\\"key\\":" + json(key) + ",\\"namespace\\":" + json(namespace) + ","
                      + json(what) + ":" + json(value) + "}";
          }

      "
    `);
  });

  it('tells a program all of it', async () => {
    const { stdout, exitCode } = await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed', '--json');
    const { text, statement, ...document } = JSON.parse(stdout);
    expect(exitCode).toBe(0);
    expect(text).toContain(`${statement};`);
    expect(document).toMatchInlineSnapshot(`
      {
        "backend": "hashmap",
        "className": null,
        "classes": [
          "flinklab.jobs.KeyedStates$Profile",
        ],
        "columns": [
          {
            "name": "key",
            "state": null,
            "type": "STRING",
          },
          {
            "name": "expiring",
            "state": "expiring",
            "type": "ROW<\`userValue\` STRING, \`lastAccessTimestamp\` BIGINT>",
          },
          {
            "name": "last",
            "state": "last",
            "type": "ROW<\`f0\` STRING, \`f1\` BIGINT>",
          },
          {
            "name": "buckets",
            "state": "buckets",
            "type": "MAP<STRING, BIGINT>",
          },
          {
            "name": "profile",
            "state": "profile",
            "type": "ROW<\`name\` STRING, \`visits\` BIGINT>",
          },
          {
            "name": "count",
            "state": "count",
            "type": "BIGINT",
          },
          {
            "name": "recent",
            "state": "recent",
            "type": "ARRAY<BIGINT>",
          },
        ],
        "language": "sql",
        "leftOut": [
          {
            "kind": "reducing",
            "reason": "the connector does not read reducing states",
            "state": "sum",
          },
          {
            "kind": "timers",
            "reason": "the connector does not read timers",
            "state": "_timer_state/processing_user-timers",
          },
          {
            "kind": "timers",
            "reason": "the connector does not read timers",
            "state": "_timer_state/event_user-timers",
          },
        ],
        "name": "Keyed states",
        "notes": [
          "expiring: with the time of the last access, in milliseconds; expired values are there too, because no snapshot says how long they live",
        ],
        "operatorId": "38226e048304984ca1b417bdd423c6d5",
        "pointer": "file:/tmp/flink/checkpoints/2.3.0/hashmap-inline/fefa2903be31f18155ff09db6fc6f6d2/chk-2",
        "query": "SELECT * FROM \`orders-keyed\`",
        "reason": null,
        "table": "orders-keyed",
        "uid": "orders-keyed",
        "unread": [],
      }
    `);
  });

  it('tells a program why there is nothing', async () => {
    const { stdout, exitCode } = await sql('flink-2.3.0/changelog-memory', 'chk-1', 'orders-keyed', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ language: null, statement: null, query: null, text: '' });
  });

  it('writes to a file, which it does not replace', async () => {
    await withTempDirectory(async (temporary) => {
      const out = join(temporary, 'new', 'orders.sql');
      const write = (...more: string[]) =>
        sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed', '--out', out, ...more);
      expect(await write()).toMatchObject({ stdout: `SQL written to file:${out}\n`, exitCode: 0 });
      const { stdout } = await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed');
      expect(await readFile(out, 'utf8')).toBe(stdout);
      expect((await write()).exitCode).toBe(5);
      expect((await write('--overwrite', '--java')).stdout).toBe(`Java class ReadOrdersKeyed written to file:${out}\n`);
      expect(await readFile(out, 'utf8')).toContain('public final class ReadOrdersKeyed {');
    });
  });

  it('refuses what it does not find', async () => {
    const state = await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed', '--state', 'nothing');
    expect(state).toMatchObject({ stdout: '', exitCode: 2 });
    expect(state.stderr).toContain('no state "nothing"; there are ');
    expect((await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'nobody')).exitCode).toBe(2);
    expect((await sql('flink-2.3.0/hashmap-inline', 'chk-2', 'orders-keyed', '--flink', '1.20')).exitCode).toBe(2);
  });

  it('has help', async () => {
    const { stdout, exitCode } = await runCkpt(['sql', '--help']);
    expect(exitCode).toBe(0);
    for (const option of ['--java', '--state <name>', '--table <name>', '--flink <release>', '--out <file>']) {
      expect(stdout).toContain(option);
    }
  });
});
