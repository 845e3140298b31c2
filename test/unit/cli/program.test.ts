import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands/index.js';
import { Exit } from '../../../src/cli/exit-code.js';
import { integerParser, parseDuration } from '../../../src/cli/options.js';
import { type CommandLine, parseCommandLine } from '../../../src/cli/program.js';
import type { CommandSpec } from '../../../src/cli/spec.js';
import { UsageError } from '../../../src/errors.js';

const load: CommandSpec['load'] = async () => ({ run: async () => Exit.Ok });

const sweep: CommandSpec = {
  name: 'sweep',
  aliases: ['sw'],
  group: 'Clean up',
  args: '<root...>',
  argumentNotes: { root: 'directory to sweep' },
  summary: 'Sweep directories',
  options: [
    {
      flags: '--min-age <duration>',
      description: 'Spare what is younger',
      parse: parseDuration,
      default: 5,
      defaultText: '15min',
    },
    { flags: '--keep <n>', description: 'How many stay', parse: integerParser({ minimum: 1 }) },
    { flags: '--used-by <root>', description: 'Who else looks here', repeatable: true },
    { flags: '--number <n>', description: 'Numbers', repeatable: true, parse: integerParser() },
    { flags: '--kind <kind>', description: 'What', choices: ['shared', 'changelog'] },
    { flags: '--delete', description: 'Do it', conflicts: ['moveTo'] },
    { flags: '--move-to <directory>', description: 'Move it' },
  ],
  examples: [{ command: 'ckpt sweep /data', note: 'Look only' }],
  exits: [Exit.Ok, [Exit.No, 'something could not be removed'], Exit.Refused],
  jsonl: true,
  destructive: true,
  load,
};

const look: CommandSpec = {
  name: 'look',
  group: 'Inspect',
  args: '<pointer> [operator]',
  summary: 'Look at it',
  options: [{ flags: '--job <id>', description: 'Which job', required: true }],
  exits: [Exit.Ok],
  load,
};

const specs = [look, sweep];

function parse(...args: string[]): CommandLine {
  return parseCommandLine(args, specs, { version: () => '1.2.3', width: 80, color: false });
}

function parseRun(...args: string[]): Extract<CommandLine, { kind: 'run' }> {
  const line = parse(...args);
  if (line.kind !== 'run') throw new Error(`not a run: ${line.text}`);
  return line;
}

function parsePrint(...args: string[]): Extract<CommandLine, { kind: 'print' }> {
  const line = parse(...args);
  if (line.kind !== 'print') throw new Error('not a print');
  return line;
}

describe('arguments and options', () => {
  it('come as the spec says', () => {
    const line = parseRun(
      'sweep',
      '/a',
      '--min-age',
      '7d',
      '/b',
      '--keep=3',
      '--used-by',
      '/c',
      '--used-by',
      '/d',
      '-y',
    );
    expect(line.spec).toBe(sweep);
    expect(line.args).toEqual(['/a', '/b']);
    expect(line.options).toEqual({ minAge: 604_800_000, keep: 3, usedBy: ['/c', '/d'], number: [], yes: true });
  });

  it('have defaults; repeatable ones are lists; what was not given is absent', () => {
    expect(parseRun('sw', '/a').options).toEqual({ minAge: 5, usedBy: [], number: [] });
    expect(parseRun('sw', '/a', '--number', '1', '--number', '2').options.number).toEqual([1, 2]);
    expect(parseRun('look', 'p', '--job', 'x').args).toEqual(['p']);
    expect(parseRun('look', 'p', 'o', '--job', 'x').args).toEqual(['p', 'o']);
  });

  it('take what follows -- as arguments', () => {
    expect(parseRun('sweep', '--', '--keep', '-').args).toEqual(['--keep', '-']);
  });

  it('never mix the values of two runs', () => {
    parseRun('sweep', '/a', '--used-by', '/b');
    expect(parseRun('sweep', '/a', '--used-by', '/c').options.usedBy).toEqual(['/c']);
  });
});

describe('options that work everywhere', () => {
  it('may stand before and after the command', () => {
    const { globals, options } = parseRun(
      ...['-Da=1', '--map', 'x=y', '-q', 'sweep', '/a', '-D', 'b=2', '--map', 'v=w', '--json', '--no-color'],
      ...['--conf-dir', '/conf', '--alias', 's3,s3a'],
    );
    expect(globals).toEqual({
      json: true,
      jsonl: false,
      quiet: true,
      verbose: false,
      color: false,
      definitions: [
        ['a', '1'],
        ['b', '2'],
      ],
      configurationDirectory: '/conf',
      mappings: ['x=y', 'v=w'],
      aliases: [['s3', 's3a']],
      requests: undefined,
    });
    expect(Object.keys(options)).toEqual(['minAge', 'usedBy', 'number']);
  });

  it('let the one after the command win where there is only one value', () => {
    expect(parseRun('--conf-dir', '/a', 'sweep', '/x', '--conf-dir', '/b').globals.configurationDirectory).toBe('/b');
    expect(parseRun('--conf-dir', '/a', 'sweep', '/x').globals.configurationDirectory).toBe('/a');
  });

  it('are off by default', () => {
    expect(parseRun('sweep', '/a').globals).toMatchObject({ json: false, quiet: false, color: true, definitions: [] });
  });

  it('have --jsonl only where the command streams', () => {
    expect(parseRun('--jsonl', 'sweep', '/a').globals.jsonl).toBe(true);
    expect(parseRun('sweep', '/a', '--jsonl').globals.jsonl).toBe(true);
    expect(() => parse('--jsonl', 'look', 'p', '--job', 'x')).toThrow('ckpt look has no --jsonl');
    expect(() => parse('look', 'p', '--job', 'x', '--jsonl')).toThrow("unknown option '--jsonl'");
    expect(() => parse('sweep', '/a', '--json', '--jsonl')).toThrow('exclude each other');
  });
});

describe('wrong use', () => {
  it.each([
    [['swep'], "unknown command 'swep'; did you mean sweep?"],
    [['swep', '--help'], "unknown command 'swep'; did you mean sweep?"],
    [['help', 'swep'], "unknown command 'swep'; did you mean sweep?"],
    [['qqqqqq'], "unknown command 'qqqqqq'"],
    [['sweep', '/a', '--delet'], "unknown option '--delet'; did you mean --delete?"],
    [['--jsn', 'sweep', '/a'], "unknown option '--jsn'; did you mean --json?"],
    [['sweep'], "missing required argument 'root'"],
    [['look', 'a'], "required option '--job <id>' not specified"],
    [['look', 'a', 'b', 'c', '--job', 'x'], "too many arguments for 'look'. Expected 2 arguments but got 3."],
    [['sweep', '/a', '--keep'], "option '--keep <n>' argument missing"],
    [['sweep', '/a', '--keep', '0'], '"0" is not a whole number from 1'],
    [['sweep', '/a', '--min-age', '15'], '"15" is not a duration'],
    [['sweep', '/a', '--kind', 'x'], 'Allowed choices are shared, changelog.'],
    [
      ['sweep', '/a', '--delete', '--move-to', '/b'],
      "option '--delete' cannot be used with option '--move-to <directory>'",
    ],
    [['sweep', '/a', '-D', 'key'], '-D takes key=value'],
    [['sweep', '/a', '--map', 'a=b=c'], '--map: "a=b=c" has more than one'],
    [['sweep', '/a', '--alias', 's3,'], '--alias: "s3," has an empty entry'],
    [['--json'], 'no command was given'],
  ])('%j: %s', (args, message) => {
    expect(() => parse(...args)).toThrow(UsageError);
    expect(() => parse(...args)).toThrow(message);
    const failure = (() => {
      try {
        return parse(...args);
      } catch (error) {
        return String(error);
      }
    })();
    expect(failure).not.toContain('\n');
  });

  it('without anything prints the help as an error', () => {
    expect(parsePrint()).toMatchObject({ to: 'stderr', exit: 2 });
    expect(parsePrint('-q')).toMatchObject({ to: 'stderr', exit: 2 });
    expect(parsePrint().text).toBe(parsePrint('--help').text);
  });
});

describe('help', () => {
  it.each([['sweep'], ['sw']])('help %s is what %s --help says', (name) => {
    const help = parsePrint('help', name);
    expect(help).toMatchObject({ to: 'stdout', exit: 0 });
    expect(help.text).toBe(parsePrint(name, '--help').text);
    expect(parsePrint(name, '-h').text).toBe(help.text);
  });

  it('shows the program', () => {
    const { text } = parsePrint('--help');
    expect(parsePrint('help').text).toBe(text);
    expect(text).toMatchInlineSnapshot(`
      "Usage: ckpt <command> [arguments] [options]

      Inspects and manages the checkpoints and savepoints of Apache Flink, without
      Flink.

      Inspect:
        look       Look at it

      Clean up:
        sweep, sw  Sweep directories

      Other:
        help       Show the help of a command

      Everywhere:
        --json                  Print the result as one JSON document
        --jsonl                 Print one JSON object a line, as they come (some
                                commands)
        -q, --quiet             Print no warnings and no progress
        -v, --verbose           Say more; print the stack of an error
        --no-color              No colours (also: NO_COLOR in the environment)
        -D <key=value>          An option of Flink's configuration (repeatable)
        --conf-dir <directory>  Where config.yaml or flink-conf.yaml is (default:
                                $FLINK_CONF_DIR)
        --map <old=new>         Look up at NEW what is called OLD (repeatable)
        --alias <schemes>       Schemes that name the same store, as s3,s3a
                                (repeatable)
        --requests <number>     Requests at once to each remote store (default: 32)
        -V, --version           Print the version
        -h, --help              Show this help

      Exit codes:
        0    done, nothing wrong
        1    done, and the answer is no, or not everything could be done
        2    wrong use: unknown option, missing argument, bad value
        3    the pointer or directory does not resolve
        4    there is metadata, but it cannot be read
        5    refused for safety, nothing changed
        70   a bug of ckpt
        130  interrupted (Ctrl-C)
        143  terminated (SIGTERM)

      "ckpt help <command>" says more about one command, with examples.
      "
    `);
  });

  it('shows a command', () => {
    expect(parsePrint('help', 'sweep').text).toMatchInlineSnapshot(`
      "Usage: ckpt sweep <root...> [options]

      Sweep directories.

      Arguments:
        root  directory to sweep

      Options:
        --min-age <duration>    Spare what is younger (default: 15min)
        --keep <n>              How many stay
        --used-by <root>        Who else looks here (repeatable)
        --number <n>            Numbers (repeatable)
        --kind <kind>           What (choices: "shared", "changelog")
        --delete                Do it
        --move-to <directory>   Move it

      Plan:
        --dry-run               Print the plan and stop
        -y, --yes               Do not ask
        --plan-out <file>       Save the plan to a file
        --plan <file>           Carry out exactly this saved plan; refuse if the tree
                                has changed under it
        --log <file>            Append each deletion to a file

      Everywhere:
        --json                  Print the result as one JSON document
        --jsonl                 Print one JSON object a line, as they come
        -q, --quiet             Print no warnings and no progress
        -v, --verbose           Say more; print the stack of an error
        --no-color              No colours (also: NO_COLOR in the environment)
        -D <key=value>          An option of Flink's configuration (repeatable)
        --conf-dir <directory>  Where config.yaml or flink-conf.yaml is (default:
                                $FLINK_CONF_DIR)
        --map <old=new>         Look up at NEW what is called OLD (repeatable)
        --alias <schemes>       Schemes that name the same store, as s3,s3a
                                (repeatable)
        --requests <number>     Requests at once to each remote store (default: 32)
        -h, --help              Show this help

      Alias: sw

      Examples:
        # Look only
        ckpt sweep /data

      Exit codes:
        0    done, nothing wrong
        1    something could not be removed
        2    wrong use: unknown option, missing argument, bad value
        5    refused for safety, nothing changed
      "
    `);
  });

  it('fits 80 columns, and uses no more than 100', () => {
    for (const { name } of commands) {
      for (const [width, limit] of [
        [80, 80],
        [500, 100],
        [Number.POSITIVE_INFINITY, 80],
      ] as const) {
        const line = parseCommandLine([name, '--help'], commands, { version: () => '', width, color: false });
        const longest = Math.max(...(line.kind === 'print' ? line.text : '').split('\n').map(({ length }) => length));
        expect(longest).toBeLessThanOrEqual(limit);
      }
    }
  });

  it('has bold headings only with colour', () => {
    const colored = parseCommandLine(['--help'], specs, { version: () => '', width: 80, color: true });
    expect(colored).toMatchObject({ text: expect.stringContaining('\u001b[1mUsage:\u001b[22m') });
    expect(parsePrint('--help').text).not.toContain('\u001b');
  });
});

describe('--version', () => {
  it.each([[['--version']], [['-V']], [['-q', '-V']], [['-V', 'sweep']]])('%j prints the version alone', (args) => {
    expect(parse(...args)).toEqual({ kind: 'print', to: 'stdout', text: '1.2.3\n', exit: 0 });
  });
});

describe('the command tree', () => {
  it('has no two names alike', () => {
    const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('loads a command for every spec', async () => {
    for (const spec of commands) expect(await spec.load()).toHaveProperty('run');
  });
});
