/**
 * The configuration of the Flink cluster, as far as `ckpt` needs it: default directories and file-system settings. It comes
 * from `config.yaml` (Flink 1.19 and later), else `flink-conf.yaml` (before 2.0), and from `-D key=value`, which wins.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.js';

/** Flink's options by key, read-only. */
export class Configuration {
  readonly #values: ReadonlyMap<string, string>;
  /** The file that was read, if one was. */
  readonly file: string | undefined;

  constructor(values: Iterable<readonly [key: string, value: string]>, file?: string) {
    this.#values = new Map(values);
    this.file = file;
  }

  /** Value of the first of these keys that is set: the current name of an option first, then its older ones. */
  get(...keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const value = this.#values.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** All keys with their values, secrets included: for file systems, never for printing. */
  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** All keys with values that may be shown. */
  redacted(): Record<string, string> {
    return Object.fromEntries([...this.#values].map(([key, value]) => [key, isSensitiveKey(key) ? '******' : value]));
  }

  /** Root of the checkpoints: `execution.checkpointing.dir`, formerly `state.checkpoints.dir`. */
  get checkpointDirectory(): string | undefined {
    return this.get('execution.checkpointing.dir', 'state.checkpoints.dir', 'state.backend.fs.checkpointdir');
  }

  /** Default place of savepoints: `execution.checkpointing.savepoint-dir`, formerly `state.savepoints.dir`. */
  get savepointDirectory(): string | undefined {
    return this.get('execution.checkpointing.savepoint-dir', 'state.savepoints.dir', 'savepoints.state.backend.fs.dir');
  }

  /** Keeps secrets out of inspection and JSON by accident. */
  toJSON(): Record<string, string> {
    return this.redacted();
  }
}

/**
 * Whether the value of a key must never be printed. The words are those of Flink's `GlobalConfiguration`, and any `key`,
 * since file systems name their credentials in many ways.
 */
export function isSensitiveKey(key: string): boolean {
  const sensitive = [
    'password',
    'secret',
    'token',
    'key',
    'credential',
    'auth-params',
    'basic-auth',
    'jaas.config',
    'http-headers',
    'sas',
  ];
  const lower = key.toLowerCase();
  return sensitive.some((word) => lower.includes(word));
}

/** Where the configuration comes from. */
export interface ConfigurationSource {
  /** `--conf-dir`: must have a file. */
  readonly directory?: string | undefined;
  /** `$FLINK_CONF_DIR`: used if there is no `directory`; may be wrong, with a warning. */
  readonly environmentDirectory?: string | undefined;
  /** The pairs of `-D`. */
  readonly definitions: readonly (readonly [key: string, value: string])[];
  /** Takes what is worth a warning. */
  readonly warn: (message: string) => void;
}

/**
 * Reads the configuration file, if one is named, and lays the definitions over it.
 * @throws UsageError if the named directory has no configuration file, or if the file is no YAML
 */
export async function loadConfiguration(source: ConfigurationSource): Promise<Configuration> {
  const { definitions } = source;
  const directory = source.directory ?? (source.environmentDirectory || undefined);
  if (directory === undefined) return new Configuration(definitions);
  const file = await readConfigurationFile(directory, source.warn);
  if (file === undefined) {
    const message = `${directory}: neither config.yaml nor flink-conf.yaml is there`;
    if (source.directory !== undefined) throw new UsageError(message, { directory });
    source.warn(`${message} (from FLINK_CONF_DIR)`);
    return new Configuration(definitions);
  }
  return new Configuration([...file.values, ...definitions], file.path);
}

/**
 * The pairs of `-D`. Values may be secrets: no message repeats them.
 * @throws UsageError
 */
export function parseDefinitions(definitions: readonly string[]): [key: string, value: string][] {
  return definitions.map((definition) => {
    const at = definition.indexOf('=');
    const key = definition.slice(0, Math.max(at, 0)).trim();
    if (key === '') {
      const start = /^[\w.-]*/.exec(definition)?.[0] ?? '';
      throw new UsageError(`-D takes key=value, but "${start}${start === definition ? '' : '…'}" has no key and "="`);
    }
    return [key, definition.slice(at + 1).trim()];
  });
}

interface ConfigurationFile {
  readonly path: string;
  readonly values: readonly (readonly [string, string])[];
}

async function readConfigurationFile(
  directory: string,
  warn: (message: string) => void,
): Promise<ConfigurationFile | undefined> {
  const current = join(directory, 'config.yaml');
  const legacy = join(directory, 'flink-conf.yaml');
  const yaml = await readIfThere(current);
  const lines = await readIfThere(legacy);
  if (yaml !== undefined) {
    if (lines !== undefined) warn(`${legacy} is ignored because config.yaml is there too`);
    return { path: current, values: await parseYaml(yaml, current) };
  }
  return lines === undefined ? undefined : { path: legacy, values: parseLegacyLines(lines, legacy, warn) };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError(`${path}: the configuration cannot be read`, { path }, { cause: error });
  }
}

/**
 * The flat pairs of `flink-conf.yaml`, which is YAML only by name: a line is `key: value`, parted at the first `: `, and
 * everything after a `#` is a comment. Origin: Flink `GlobalConfiguration.loadLegacyYAMLResource`.
 */
export function parseLegacyLines(text: string, path: string, warn: (message: string) => void): [string, string][] {
  const pairs: [string, string][] = [];
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = (raw.split('#', 1)[0] ?? '').trim();
    if (line === '') continue;
    const at = line.indexOf(': ');
    const key = at < 0 ? '' : line.slice(0, at).trim();
    const value = at < 0 ? '' : line.slice(at + 2).trim();
    if (key === '' || value === '') warn(`${path}: line ${index + 1} is not "key: value" and is ignored`);
    else pairs.push([key, value]);
  }
  return pairs;
}

/**
 * The pairs of `config.yaml`: nested keys are joined with dots, scalars taken as they are written.
 * Origin: Flink `YamlParserUtils`, `GlobalConfiguration.flatten`.
 */
async function parseYaml(text: string, path: string): Promise<[string, string][]> {
  const { parseDocument } = await import('yaml');
  // The failsafe schema keeps `1e3` or `0x10` as the text it is.
  const document = parseDocument(text, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' });
  const [failure] = document.errors;
  if (failure !== undefined) {
    const line = text.slice(0, failure.pos[0]).split('\n').length;
    // The parser's own message may quote the line, and with it a secret.
    throw new UsageError(`${path}: line ${line} is not valid YAML`, { path, line, reason: failure.code });
  }
  const pairs: [string, string][] = [];
  flatten(toPlain(document, path), '', pairs);
  return pairs;
}

function toPlain(document: { toJS(): unknown }, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that expand without end, or to nothing.
    throw new UsageError(`${path}: its YAML aliases cannot be resolved`, { path }, { cause: error });
  }
}

function flatten(value: unknown, prefix: string, into: [string, string][]): void {
  if (value === null || value === undefined || value === '') return;
  if (Array.isArray(value)) {
    into.push([prefix, value.map(String).join(';')]);
  } else if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) flatten(member, prefix === '' ? key : `${prefix}.${key}`, into);
  } else if (prefix !== '') {
    into.push([prefix, String(value)]);
  }
}
