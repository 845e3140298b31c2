import { describe, expect, it } from 'vitest';
import { loadStyle, plainStyle } from '../../../src/report/style.js';

describe('loadStyle', () => {
  it('adds nothing without colour', async () => {
    expect(await loadStyle({ color: false })).toBe(plainStyle);
    expect(plainStyle.bad('gone')).toBe('gone');
  });

  it('colours by meaning, whatever the environment says', async () => {
    const style = await loadStyle({ color: true });
    expect(style.bad('gone')).toBe('\u001b[31mgone\u001b[39m');
    expect(style.title('Operators')).toBe('\u001b[1mOperators\u001b[22m');
  });
});
