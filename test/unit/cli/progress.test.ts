import { describe, expect, it } from 'vitest';
import { noProgress } from '../../../src/cli/progress.js';
import { progressText } from '../../../src/cli/progress-text.js';

describe('progressText', () => {
  it.each([
    [{ done: 0, total: 0, text: undefined }, 'Deleting files'],
    [{ done: 1200, total: 0, text: undefined }, 'Deleting files 1,200'],
    [{ done: 12, total: 4000, text: 'chk-7/a\u001b[2J' }, 'Deleting files 12/4,000 (0.3%) chk-7/a\\x1b[2J'],
  ])('of %o is %s', (state, expected) => {
    expect(progressText({ title: 'Deleting files', ...state })).toBe(expected);
  });
});

it('can be told to nobody', () => {
  const progress = noProgress.start('Deleting files');
  progress.update(1, 2, 'x');
  progress.stop();
  noProgress.stop();
});
