import { execa } from 'execa';
import { flinkLabDirectory } from './paths.js';

/** The release that judges. */
const RELEASE = '2.3.0';

/** How a program runs with real Flink. */
export interface FlinkRun {
  /** What it reads from its standard input. */
  readonly input?: string;
  /** If it puts files below `/tmp/flink`, where the corpus has them: it then sees one of its own (Linux, root). */
  readonly writesBelowTmpFlink?: boolean;
  /** A directory on the class path, for classes that the program compiles. */
  readonly classDirectory?: string;
}

/**
 * Runs a program with the class path of the Maven project for Flink 2.3.0, which it builds if need be.
 * @param program a class of the project, or a Java file of one class
 * @returns the lines that it printed
 */
export async function runWithFlink(program: string, args: readonly string[], run: FlinkRun = {}): Promise<string[]> {
  const script = `. "$0/lab.sh" && build ${RELEASE} && run_java "$lab_build_root/${RELEASE}" "$@"`;
  const { stdout } = await execa('bash', ['-c', script, flinkLab(), program, ...args], {
    input: run.input ?? '',
    env: {
      FLINK_LAB_PRIVATE: run.writesBelowTmpFlink === true ? '1' : '',
      ...(run.classDirectory !== undefined && { FLINK_LAB_EXTRA_JARS: run.classDirectory }),
    },
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

/** What real Flink reads from metadata files, as parsed JSON, in the order of the paths. */
export async function oracleOf(paths: readonly string[]): Promise<unknown[]> {
  const lines = await runWithFlink('flinklab.oracle.Oracle', ['-'], { input: `${paths.join('\n')}\n` });
  return lines.map((line) => JSON.parse(line));
}

/** The directory of the Maven project that runs Flink; an error if there is none. */
export function flinkLab(): string {
  const directory = flinkLabDirectory();
  if (directory === undefined) throw new Error('there is no Maven project that runs Flink');
  return directory;
}
