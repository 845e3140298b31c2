import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  Configuration,
  isSensitiveKey,
  loadConfiguration,
  parseDefinitions,
  parseLegacyLines,
} from '../../../src/cli/configuration.js';
import { UsageError } from '../../../src/errors.js';
import { tempDirectory } from '../../support/temp.js';

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await tempDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

async function load(directory: string, definitions: readonly string[] = []) {
  const warnings: string[] = [];
  const configuration = await loadConfiguration({
    directory,
    definitions: parseDefinitions(definitions),
    warn: (message) => warnings.push(message),
  });
  return { configuration, warnings };
}

describe('config.yaml', () => {
  it('joins nested keys, and takes flat ones as they are', async () => {
    const directory = await directoryWith({
      'config.yaml': [
        'execution:',
        '  checkpointing:',
        '    dir: s3://bucket/checkpoints # where they go',
        '    savepoint-dir: "file:///savepoints"',
        'state.backend.type: rocksdb',
        'parallelism:',
        '  default: 0x10',
        'empty:',
        'env.java.opts: [a, b]',
      ].join('\n'),
    });
    const { configuration, warnings } = await load(directory);
    expect(Object.fromEntries(configuration.values)).toEqual({
      'execution.checkpointing.dir': 's3://bucket/checkpoints',
      'execution.checkpointing.savepoint-dir': 'file:///savepoints',
      'state.backend.type': 'rocksdb',
      'parallelism.default': '0x10',
      'env.java.opts': 'a;b',
    });
    expect(configuration.checkpointDirectory).toBe('s3://bucket/checkpoints');
    expect(configuration.savepointDirectory).toBe('file:///savepoints');
    expect(configuration.file).toBe(join(directory, 'config.yaml'));
    expect(warnings).toEqual([]);
  });

  it('wins over the older file, and says so', async () => {
    const directory = await directoryWith({ 'config.yaml': 'a: new', 'flink-conf.yaml': 'a: old' });
    const { configuration, warnings } = await load(directory);
    expect(configuration.get('a')).toBe('new');
    expect(warnings).toEqual([`${join(directory, 'flink-conf.yaml')} is ignored because config.yaml is there too`]);
  });

  it('names the line of broken YAML and not its contents', async () => {
    const directory = await directoryWith({ 'config.yaml': 'a: 1\ns3.secret-key: "hunter2\n' });
    const failure: unknown = await load(directory).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect(inspect(failure)).not.toContain('hunter2');
    expect(String(failure)).toMatch(/config\.yaml: line \d+ is not valid YAML/);
  });

  it('survives aliases that expand without end', async () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let letter = 98; letter < 110; letter++) {
      const before = String.fromCharCode(letter - 1);
      const name = String.fromCharCode(letter);
      lines.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    const directory = await directoryWith({ 'config.yaml': lines.join('\n') });
    await expect(load(directory)).rejects.toThrow(UsageError);
  });

  it('may be empty', async () => {
    const { configuration } = await load(await directoryWith({ 'config.yaml': '# nothing\n' }));
    expect([...configuration.values]).toEqual([]);
  });
});

describe('flink-conf.yaml', () => {
  it('is lines of pairs, not YAML', async () => {
    const directory = await directoryWith({
      'flink-conf.yaml': [
        '# a comment',
        'state.checkpoints.dir: hdfs:///flink/checkpoints',
        'state.savepoints.dir: s3://b/x: y # after the value',
        '  rest.port:   8081  ',
        '',
        'no colon',
        'no-blank:8081',
        'no-value: ',
      ].join('\r\n'),
    });
    const { configuration, warnings } = await load(directory);
    expect(Object.fromEntries(configuration.values)).toEqual({
      'state.checkpoints.dir': 'hdfs:///flink/checkpoints',
      'state.savepoints.dir': 's3://b/x: y',
      'rest.port': '8081',
    });
    expect(configuration.checkpointDirectory).toBe('hdfs:///flink/checkpoints');
    expect(configuration.savepointDirectory).toBe('s3://b/x: y');
    expect(warnings.map((warning) => /line (\d+)/.exec(warning)?.[1])).toEqual(['6', '7', '8']);
  });

  it('repeats no line that it does not understand', () => {
    const warnings: string[] = [];
    parseLegacyLines('s3.secret-key:hunter2', 'flink-conf.yaml', (message) => warnings.push(message));
    expect(warnings).toHaveLength(1);
    expect(warnings.join()).not.toContain('hunter2');
  });
});

describe('-D', () => {
  it('wins over the file, the last one over those before', async () => {
    const directory = await directoryWith({ 'config.yaml': 'a: file\nb: file\n' });
    const { configuration } = await load(directory, ['a=one', 'a=two=2', 'c=']);
    expect(Object.fromEntries(configuration.values)).toEqual({ a: 'two=2', b: 'file', c: '' });
  });

  it.each(['key', '=value', '', 's3.secret-key:hunter2'])('refuses %j without repeating a value', (definition) => {
    const failure: unknown = (() => {
      try {
        return parseDefinitions([definition]);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(UsageError);
    expect(inspect(failure)).not.toMatch(/hunter2|value"/);
  });
});

describe('the directory', () => {
  it('must have a file if it was named', async () => {
    const directory = await tempDirectory();
    await expect(load(directory)).rejects.toThrow('neither config.yaml nor flink-conf.yaml');
    await expect(load(join(directory, 'gone'))).rejects.toThrow(UsageError);
  });

  it('is worth a warning if it comes from the environment', async () => {
    const warnings: string[] = [];
    const configuration = await loadConfiguration({
      environmentDirectory: await tempDirectory(),
      definitions: [['a', 'b']],
      warn: (message) => warnings.push(message),
    });
    expect(configuration.get('a')).toBe('b');
    expect(warnings).toHaveLength(1);
  });

  it('is not needed', async () => {
    const warn = () => expect.unreachable();
    const configuration = await loadConfiguration({ environmentDirectory: '', definitions: [], warn });
    expect(configuration.checkpointDirectory).toBeUndefined();
  });

  it('may have a file that cannot be read', async () => {
    const directory = await tempDirectory();
    await mkdir(join(directory, 'config.yaml'));
    await expect(load(directory)).rejects.toThrow('the configuration cannot be read');
  });
});

describe('Configuration', () => {
  const configuration = new Configuration([
    ['s3.access-key', 'AKIA'],
    ['s3.secret-key', 'hunter2'],
    ['fs.azure.account.key.x', 'hunter2'],
    ['security.kerberos.login.keytab', 'x'],
    ['s3.endpoint', 'e'],
    ['state.checkpoints.dir', 'old'],
    ['execution.checkpointing.dir', 'new'],
  ]);

  it('prefers the current name of an option', () => {
    expect(configuration.checkpointDirectory).toBe('new');
  });

  it('shows no secret, however it is printed', () => {
    const printed = `${JSON.stringify({ configuration })} ${inspect(configuration, { depth: 9, showHidden: true })}`;
    expect(printed).not.toMatch(/hunter2|AKIA/);
    expect(configuration.redacted()['s3.endpoint']).toBe('e');
    expect(configuration.get('s3.secret-key')).toBe('hunter2');
  });

  it.each(['s3.secret-key', 'S3.Secret-Key', 'x.password', 'oauth.token', 'fs.azure.sas.x', 'basic-auth', 'api-key'])(
    'knows %s for a secret',
    (key) => {
      expect(isSensitiveKey(key)).toBe(true);
    },
  );
});
