import { describe, expect, it } from 'vitest';
import { backendUuid } from '../../../../src/operations/document/java-uuid.js';

/** What Java 17 answers: `UUID.fromString`, and where that throws `UUID.nameUUIDFromBytes` of the UTF-8 bytes. */
const answers = [
  ['1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b', '1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b'],
  ['1F8A7B3C-0d4e-4f6a-9b2c-5e7d8f901a2B', '1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b'],
  ['1-2-3-4-5', '00000001-0002-0003-0004-000000000005'],
  ['+1-2-3-4-5', '00000001-0002-0003-0004-000000000005'],
  ['1-2-3-4-+5', '00000001-0002-0003-0004-000000000005'],
  ['123456789-12345-3-4-5', '23456789-2345-0003-0004-000000000005'],
  ['7fffffffffffffff-1-1-1-1', 'ffffffff-0001-0001-0001-000000000001'],
  // No UUIDs: too large, too long, too many parts, too few, empty parts, other characters.
  ['8000000000000000-1-1-1-1', '7aab2253-89df-3a35-9df5-ed30a752a51a'],
  ['1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b0', '7a7940ee-276c-3de7-a944-c372c233b003'],
  ['1-2-3-4-5-6', '5caaae54-cfd8-3b46-8a0f-c737f995766c'],
  ['1--2-3-4', 'd7e86fac-cfcd-370e-be64-8dc1caa50079'],
  ['-1-2-3-4', '64f5fd7d-4732-34a0-a26d-775afe8811e5'],
  ['+-2-3-4-5', 'a613f075-ddc8-3a62-b101-3c1cc81fa6c6'],
  ['1f8a7b3c00d4e-4f6a-9b2c-5e7d8f901a2b', 'b81e50fe-6ded-3629-b721-d4eeb462dffc'],
  ['\ufeff1-2-3-4-5', '6ee5c24c-d0b0-3f1f-a105-a132a664bf05'],
  ['window-state-backend', '08262a8a-c980-315e-9e30-0ac9704a4a2c'],
  ['', 'd41d8cd9-8f00-3204-a980-0998ecf8427e'],
  ['a\u{1f600}', 'd410b0c8-50c5-3cce-b2f9-30307e4642cd'],
  ['\ud800x', '6afeb370-6079-3766-a9fd-8215b1588d26'],
] as const;

describe('backendUuid', () => {
  it.each(answers)('%j', (identifier, uuid) => {
    expect(backendUuid(identifier)).toBe(uuid);
  });
});
