/**
 * The configuration of a Hadoop client, as Flink puts it together: `core-site.xml` and `hdfs-site.xml` from the directories of
 * the environment, then Flink's own options `flink.hadoop.*`. Origin: Flink `HadoopUtils.getHadoopConfiguration`, Hadoop
 * `Configuration`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, UsageError } from '../../errors.js';
import type { FileSystemSettings } from '../settings.js';

const FILES = ['core-site.xml', 'hdfs-site.xml'];
const FLINK_PREFIX = 'flink.hadoop.';
/** Options of Hadoop that are taken from `-D` as they are. */
const HADOOP_OPTION = /^(?:dfs\.|fs\.defaultFS$|fs\.default\.name$|fs\.viewfs\.|fs\.permissions\.|hadoop\.)/;
const MOST_SUBSTITUTIONS = 20;
/** Names of old that clusters still use, by the names of today. Origin: Hadoop `HdfsConfiguration`, `Configuration`. */
const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['fs.defaultFS', 'fs.default.name'],
  ['dfs.nameservices', 'dfs.federation.nameservices'],
  ['dfs.namenode.http-address', 'dfs.http.address'],
  ['dfs.namenode.https-address', 'dfs.https.address'],
  ['dfs.blocksize', 'dfs.block.size'],
]);

/** Options of Hadoop by name. */
export class HadoopConfiguration {
  readonly #values: ReadonlyMap<string, string>;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  /** Files that were read. */
  readonly files: readonly string[];

  constructor(
    values: ReadonlyMap<string, string>,
    files: readonly string[] = [],
    environment: Readonly<Record<string, string | undefined>> = {},
  ) {
    this.#values = values;
    this.files = files;
    this.#environment = environment;
  }

  /** The value of an option, with `${other.option}` and `${env.NAME}` replaced; undefined if it has none, or an empty one. */
  get(name: string): string | undefined {
    const deprecated = DEPRECATED.get(name);
    let value = this.#values.get(name) ?? (deprecated === undefined ? undefined : this.#values.get(deprecated));
    for (let count = 0; value?.includes('${') && count < MOST_SUBSTITUTIONS; count++) {
      const replaced: string = value.replace(/\$\{([^{}$]+)\}/, (all, key: string) => this.#variable(key) ?? all);
      if (replaced === value) break;
      value = replaced;
    }
    const trimmed = value?.trim();
    return trimmed === '' ? undefined : trimmed;
  }

  /** The parts of a value with commas. */
  list(name: string): readonly string[] {
    return (this.get(name) ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  }

  /** All names. */
  get names(): readonly string[] {
    return [...this.#values.keys()];
  }

  #variable(name: string): string | undefined {
    const [, variable, , fallback] = /^env\.(\w+)(:?-(.*))?$/.exec(name) ?? [];
    return variable === undefined ? this.#values.get(name) : (this.#environment[variable] ?? fallback);
  }
}

/**
 * Reads the configuration files that there are.
 * @throws UsageError if one cannot be read, or is no such file
 */
export async function loadHadoopConfiguration(settings: FileSystemSettings): Promise<HadoopConfiguration> {
  const values = new Map<string, string>();
  const fixed = new Set<string>();
  const files: string[] = [];
  for (const directory of directoriesOf(settings)) {
    for (const name of FILES) {
      const file = join(directory, name);
      const text = await readIfThere(file);
      if (text === undefined) continue;
      files.push(file);
      for (const property of await parseXml(text, file, settings.warn)) {
        if (fixed.has(property.name)) continue;
        values.set(property.name, property.value);
        if (property.isFinal) fixed.add(property.name);
      }
    }
  }
  for (const [key, value] of settings.configuration) {
    if (key.startsWith(FLINK_PREFIX)) values.set(key.slice(FLINK_PREFIX.length), value);
    else if (HADOOP_OPTION.test(key)) values.set(key, value);
  }
  return new HadoopConfiguration(values, files, settings.environment);
}

/** Where the files are looked for, the ones that win last: the order of Flink. */
function directoriesOf({ configuration, environment = {} }: FileSystemSettings): string[] {
  const home = environment.HADOOP_HOME;
  return [
    ...(home ? [join(home, 'conf'), join(home, 'etc', 'hadoop')] : []),
    configuration.get('fs.hdfs.hadoopconf'),
    configuration.get('env.hadoop.conf.dir'),
    environment.HADOOP_CONF_DIR,
  ].filter((directory): directory is string => directory !== undefined && directory !== '');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError(
      `${file}: the Hadoop configuration cannot be read: ${asError(error).message}`,
      { path: file },
      { cause: error },
    );
  }
}

interface Property {
  readonly name: string;
  readonly value: string;
  readonly isFinal: boolean;
}

/** The properties of a file. No message repeats a value: it may be a secret. */
async function parseXml(text: string, file: string, warn: FileSystemSettings['warn']): Promise<Property[]> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) {
    throw new UsageError(`${file}: line ${verdict.err.line} is not valid XML`, { path: file, line: verdict.err.line });
  }
  let document: unknown;
  try {
    const parser = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'property' });
    document = parser.parse(text);
  } catch (error) {
    throw new UsageError(`${file}: it is not valid XML`, { path: file }, { cause: error });
  }
  const configuration = member(document, 'configuration');
  if (configuration === undefined) {
    throw new UsageError(`${file}: it has no <configuration>, so it is no configuration of Hadoop`, { path: file });
  }
  if (member(configuration, 'xi:include') !== undefined) warn?.(`${file}: xi:include is ignored`);
  const properties = member(configuration, 'property');
  return (Array.isArray(properties) ? properties : []).flatMap((property: unknown) => {
    const name = member(property, 'name');
    const value = member(property, 'value');
    if (typeof name !== 'string' || typeof value !== 'string') return [];
    return [{ name: name.trim(), value, isFinal: member(property, 'final') === 'true' }];
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
