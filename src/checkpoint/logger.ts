/** Where failures go that Flink only logs. The library itself never prints. */

/** Takes what a logger takes. */
export interface Logger {
  /** @param error what failed, if something did */
  warn(message: string, error?: unknown): void;
}

/** Drops everything. */
export const SILENT_LOGGER: Logger = { warn: () => undefined };
