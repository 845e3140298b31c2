/**
 * Ctrl-C and SIGTERM: the first asks the command to stop at its next safe point, the second ends the process at once.
 */
import { InterruptedError } from '../errors.js';

/** The signals that ask for an end. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/** Where signals arrive; `process`, or an emitter in tests. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** Watches for signals until it is disposed. */
export interface SignalWatch {
  /** Aborted by the first signal, with an `InterruptedError` as its reason. */
  readonly signal: AbortSignal;
  /** The first signal that arrived, if one did. */
  readonly received: StopSignal | undefined;
  /** Takes the listeners away. */
  dispose(): void;
}

/**
 * Starts watching.
 * @param again called for every signal after the first; it should end the process
 */
export function watchSignals(source: SignalSource, again: (signal: StopSignal) => void): SignalWatch {
  const controller = new AbortController();
  let received: StopSignal | undefined;
  const receive = (signal: StopSignal): void => {
    if (received !== undefined) {
      again(signal);
      return;
    }
    received = signal;
    controller.abort(new InterruptedError(signal));
  };
  const onInterrupt = (): void => receive('SIGINT');
  const onTerminate = (): void => receive('SIGTERM');
  source.on('SIGINT', onInterrupt);
  source.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    get received() {
      return received;
    },
    dispose() {
      source.off('SIGINT', onInterrupt);
      source.off('SIGTERM', onTerminate);
    },
  };
}
