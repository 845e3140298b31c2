/**
 * Everything that a command may use of its surroundings. A command takes nothing from `process`, so a test can run it
 * without one.
 */
import type { PathMapping } from '../filesystem/path-mapping.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { RetriedRequest } from '../filesystem/requests.js';
import { jsonPieces } from '../report/json.js';
import { printable } from '../report/printable.js';
import { loadStyle } from '../report/style.js';
import type { LazyRenderer, Renderer, View } from '../report/view.js';
import { type Configuration, loadConfiguration } from './configuration.js';
import { type Asker, canAsk, confirm } from './confirm.js';
import { describeError, type ErrorBody, errorLines } from './error-report.js';
import { type ExitCode, exitCodeOf } from './exit-code.js';
import { readBytes, readLines } from './input.js';
import { type Output, OutputClosed } from './output.js';
import { noProgress, type Progress, type ProgressDisplay, terminalProgress } from './progress.js';
import type { Stores } from './stores.js';
import { type StreamOutput, streamOutput } from './stream-output.js';
import { decideColor, decideWidth, type Terminal } from './terminal.js';

/** Options that every command has, as parsed. */
export interface GlobalOptions {
  readonly json: boolean;
  readonly jsonl: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** False with `--no-color`. */
  readonly color: boolean;
  /** The pairs of `-D`. */
  readonly definitions: readonly (readonly [key: string, value: string])[];
  /** The value of `--conf-dir`. */
  readonly configurationDirectory: string | undefined;
  /** The values of `--map`. */
  readonly mappings: readonly string[];
  /** The values of `--alias`, each a set of schemes. */
  readonly aliases: readonly (readonly string[])[];
  /** The value of `--requests`. */
  readonly requests: number | undefined;
}

/** Tells the time; tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What a command gets. */
export interface Context extends Asker {
  readonly json: boolean;
  readonly jsonl: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Aborted by Ctrl-C and SIGTERM, with an `InterruptedError`. Pass it on; throw its reason at a safe point. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;

  /**
   * Prints the result: the document with `--json`, else the text. Once for a command. A reader that went away is no
   * error here, so that the exit code still tells the result.
   * @param render the renderer, or where to load it from: not done for a document
   */
  emit<T>(document: T, render: Renderer<T> | LazyRenderer<T>): Promise<void>;
  /**
   * Shows what a person must have seen before a question: on standard output, or with `--json` on standard error, which
   * leaves standard output to the document.
   */
  preview<T>(document: T, render: Renderer<T>): Promise<void>;
  readonly stream: StreamOutput;
  /** For text that is rendered piece by piece to `stream`. */
  view(): Promise<View>;

  /** A line on standard error that is not shown with `--quiet`: something is not as it should be. */
  warn(message: string): void;
  /** A line on standard error that is not shown with `--quiet`: what was done. */
  info(message: string): void;
  /** A line on standard error that is shown only with `--verbose`. */
  detail(message: string): void;
  /**
   * Reports the failure of one pointer among several, after which the command goes on: prints it on standard error and
   * gives the exit code it leads to and the body for the document. A bug is thrown again.
   */
  report(error: unknown, pointer?: string): { readonly exit: ExitCode; readonly body: ErrorBody };

  /** Starts a line that shows how far the work is; nothing if nobody would see it. */
  progress(title: string): Progress;
  /** Standard input as bytes. */
  stdin(): AsyncIterable<Uint8Array>;
  /** Standard input as lines without their ends. */
  stdinLines(): AsyncIterable<string>;

  /** Flink's configuration; read when it is first asked for. */
  configuration(): Promise<Configuration>;
  /**
   * The stores. They take names as the user and the metadata write them: `--map` is applied within. The code of a store
   * is loaded when the first of its paths turns up.
   */
  fileSystems(): Promise<FileSystems>;
  /** What `--map` says, for commands that must know; looking up is done by the file systems. */
  pathMapping(): Promise<PathMapping>;
  /** Sets of schemes that name the same store, from `--alias`. */
  readonly aliases: readonly (readonly string[])[];
}

/** What a context is made of. */
export interface ContextParts {
  readonly terminal: Terminal;
  readonly output: Output;
  readonly globals: GlobalOptions;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The command changes nothing: an interruption may end whatever it does. */
  readonly onlyReads: boolean;
}

/** A context, with what the frame needs when the command has ended. */
export interface ManagedContext extends Context {
  /** Takes the line that shows progress away. */
  close(): void;
}

/** Makes the context of one run. Opens and loads nothing. */
export function createContext(parts: ContextParts): ManagedContext {
  return new RunContext(parts);
}

class RunContext implements ManagedContext {
  readonly json: boolean;
  readonly jsonl: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly aliases: readonly (readonly string[])[];
  readonly stream: StreamOutput;
  readonly #parts: ContextParts;
  readonly #progress: ProgressDisplay;
  #emitted = false;
  #configuration: Promise<Configuration> | undefined;
  #stores: Promise<Stores> | undefined;

  constructor(parts: ContextParts) {
    const { globals, terminal, output } = parts;
    this.#parts = parts;
    this.json = globals.json;
    this.jsonl = globals.jsonl;
    this.quiet = globals.quiet;
    this.verbose = globals.verbose;
    this.signal = parts.signal;
    this.clock = parts.clock;
    this.environment = terminal.environment;
    this.aliases = globals.aliases;
    this.stream = streamOutput(output);
    const watched = terminal.stderr.isTTY === true && !globals.quiet && !globals.json && !globals.jsonl;
    this.#progress = watched ? terminalProgress(terminal.stderr) : noProgress;
  }

  get canAsk(): boolean {
    return canAsk(this.#conversation());
  }

  confirm(question: string): Promise<boolean> {
    this.#progress.stop();
    return confirm(question, this.#conversation());
  }

  async emit<T>(document: T, render: Renderer<T> | LazyRenderer<T>): Promise<void> {
    if (this.#emitted) throw new Error('a command has one result');
    this.#emitted = true;
    if (this.#wantsJson) {
      const indent = this.json && this.#parts.terminal.stdout.isTTY === true ? 2 : 0;
      await this.#print(jsonPieces(document, { indent }));
    } else {
      const renderer = 'load' in render ? await render.load() : render;
      await this.#print(pieces(renderer(document, await this.view())));
    }
  }

  async preview<T>(document: T, render: Renderer<T>): Promise<void> {
    if (this.#wantsJson) {
      const { stderr } = this.#parts.terminal;
      this.#progress.stop();
      for (const piece of pieces(render(document, await this.#viewOf(stderr)))) stderr.write(piece);
    } else {
      await this.#print(pieces(render(document, await this.view())));
    }
  }

  view(): Promise<View> {
    return this.#viewOf(this.#parts.terminal.stdout);
  }

  warn(message: string): void {
    if (!this.quiet) this.#note(`ckpt: warning: ${printable(message)}\n`);
  }

  info(message: string): void {
    if (!this.quiet) this.#note(`ckpt: ${printable(message)}\n`);
  }

  detail(message: string): void {
    if (this.verbose) this.#note(`ckpt: ${printable(message)}\n`);
  }

  report(error: unknown, pointer?: string): { readonly exit: ExitCode; readonly body: ErrorBody } {
    const exit = exitCodeOf(error);
    if (exit >= 70) throw error;
    this.#note(errorLines(error, { verbose: this.verbose, pointer }));
    return { exit, body: describeError(error) };
  }

  progress(title: string): Progress {
    return this.#progress.start(title);
  }

  stdin(): AsyncIterable<Uint8Array> {
    return readBytes(this.#parts.terminal.stdin, this.signal);
  }

  stdinLines(): AsyncIterable<string> {
    return readLines(this.#parts.terminal.stdin, this.signal);
  }

  configuration(): Promise<Configuration> {
    const { globals, terminal } = this.#parts;
    this.#configuration ??= loadConfiguration({
      directory: globals.configurationDirectory,
      environmentDirectory: terminal.environment.FLINK_CONF_DIR,
      definitions: globals.definitions,
      warn: (message) => this.warn(message),
    });
    return this.#configuration;
  }

  async fileSystems(): Promise<FileSystems> {
    return (await this.#openStores()).fileSystems;
  }

  async pathMapping(): Promise<PathMapping> {
    return (await this.#openStores()).pathMapping;
  }

  close(): void {
    this.#progress.stop();
  }

  #openStores(): Promise<Stores> {
    const open = async (): Promise<Stores> => {
      const { openStores } = await import('./stores.js');
      const { globals, terminal, onlyReads } = this.#parts;
      return openStores(await this.configuration(), globals.mappings, {
        environment: terminal.environment,
        requests: globals.requests,
        ...(onlyReads && { interrupt: this.signal }),
        warn: (message) => this.warn(message),
        onRetry: (retried) => this.#noteRetry(retried),
      });
    };
    this.#stores ??= open();
    return this.#stores;
  }

  #noteRetry({ request, reason, attempt, pause }: RetriedRequest): void {
    const wait = pause > 0 ? `, after ${pause} ms as asked` : '';
    this.detail(`${request}: ${reason}; attempt ${attempt + 1} follows${wait}`);
  }

  get #wantsJson(): boolean {
    return this.json || this.jsonl;
  }

  /** Prints all of it before anything else may happen; that nobody reads it is no failure. */
  async #print(text: Iterable<string>): Promise<void> {
    const { output } = this.#parts;
    this.#progress.stop();
    try {
      for (const piece of text) await output.write(piece);
      await output.flush();
    } catch (error) {
      if (!(error instanceof OutputClosed)) throw error;
    }
  }

  #conversation() {
    const { terminal, signal } = this.#parts;
    return { input: terminal.stdin, output: terminal.stderr, signal };
  }

  async #viewOf(stream: NodeJS.WriteStream): Promise<View> {
    const { globals, terminal, clock } = this.#parts;
    const color = decideColor({
      isTTY: stream.isTTY === true,
      environment: terminal.environment,
      refused: !globals.color,
    });
    return {
      style: await loadStyle({ color }),
      width: decideWidth(stream),
      now: clock.now(),
      verbose: globals.verbose,
    };
  }

  #note(text: string): void {
    this.#parts.terminal.stderr.write(text);
  }
}

function pieces(text: string | Iterable<string>): Iterable<string> {
  return typeof text === 'string' ? [text] : text;
}
