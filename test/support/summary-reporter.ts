import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a test run with one plain line, `N passed, N failed, N skipped`, for whatever counts tests from a log. A test file
 * that could not be loaded, a hook that failed and an error outside every test count as one failure each.
 */
export default class SummaryReporter implements Reporter {
  private line: string | undefined;

  onInit(): void {
    // Not when the tests are done: vitest may still have something to say, and this line is to be the last.
    process.once('exit', () => {
      if (this.line !== undefined) {
        process.stdout.write(`${this.line}\n`);
      }
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) {
        count.failed += suite.errors().length;
      }
      for (const test of module.children.allTests()) {
        count[test.result().state] += 1;
      }
    }
    // `pending` is left over from an interrupted run: such a test neither passed nor failed.
    this.line = `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`;
  }
}
