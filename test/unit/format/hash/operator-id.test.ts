import { describe, expect, it } from 'vitest';
import { generatedOperatorId, isGeneratedSourceId, operatorIdOfUid } from '../../../../src/format/hash/operator-id.js';

describe('operatorIdOfUid', () => {
  it.each([
    ['my-uid', '8409efe6adc6d20787611f16017c808f'],
    ['kafka-source', '61252f73469d3ffba207c548d29a0267'],
    ['window-agg', 'e094fcd3c8eeead8401ea876c03e85a3'],
    ['m', '719700179e681491ace836959fad0846'],
    ['a', '897859f6655555855a890e51483ab5e6'],
    ['a-uid-longer-than-16-bytes', '4cc2685ace751ea47b8d5e5a8320fb50'],
    ['源-операт', '40fc323f788f79e1460ae566204da9e8'],
    ['😀', '5c54e08755b16d15ba04e1cf3f082e29'],
    ['', '00000000000000000000000000000000'],
    ['\0', 'b55cff6ee5ab10468335f878aa2d6251'],
    ['\ufffd', 'a75e69171250766bbfc6cc8282cde5ce'],
  ])('of %j is %s', (uid, operatorId) => {
    expect(operatorIdOfUid(uid)).toBe(operatorId);
  });

  it.each([
    ['alone', '\ud83d', 'ec2b5ca0ecce9d82cac2fdea62a4219f'],
    ['at the end', 'a\ud83d', '5818bdbfc08e72403b1fe3f384009d46'],
    ['in the wrong order', '\udc00\ud83d', 'ad688059d164b1ed4d1bffc5ea8bc2f6'],
    ['after a pair', '\ud83d\ude00\ude00', '23a1e4653e8d1c9b3ca4453b8f442947'],
    ['before a pair', '\ud83d\ud83d\ude00b', '61ff0fd78c825f430babe2630b5ff367'],
  ])('takes a lone surrogate for a question mark, as Java does: %s', (_, uid, operatorId) => {
    expect(operatorIdOfUid(uid)).toBe(operatorId);
    expect(operatorIdOfUid(uid.replace(/\p{Surrogate}/gu, '?'))).toBe(operatorId);
  });
});

describe('generatedOperatorId', () => {
  it.each([
    [0, 0, 'bc764cd8ddf7a0cff126f51c16239658'],
    [0, 1, 'cbc357ccb763df2852fee8c4fc7d55f2'],
    [0, 2, 'e3dfc0d7e9ecd8a43f85f0b68ebf3b80'],
    [1, 0, 'feca28aff5a3958840bee985ee7de4d3'],
    [1, 1, '6cdc5bb954874d922eaee11a8e7b5dd5'],
    [2, 0, '605b35e407e90cda15ad084365733fdd'],
    [2, 1, '2963852293169ba90d9d1e7d6308db5c'],
  ])('of a source at position %i with %i chainable outputs', (position, chainableOutputs, operatorId) => {
    expect(generatedOperatorId({ position, chainableOutputs, inputs: [] })).toBe(operatorId);
    expect(isGeneratedSourceId(operatorId)).toBe(true);
  });

  it('of source -> map -> keyBy -> reduce -> print', () => {
    const source = 'cbc357ccb763df2852fee8c4fc7d55f2';
    const map = generatedOperatorId({ position: 1, chainableOutputs: 0, inputs: [source] });
    const reduce = generatedOperatorId({ position: 2, chainableOutputs: 1, inputs: [map] });
    const print = generatedOperatorId({ position: 3, chainableOutputs: 0, inputs: [reduce] });
    expect([map, reduce, print]).toEqual([
      '7df19f87deec5680128845fd9a6ca18d',
      '90bea66de1c231edf33913ecd54406c1',
      '17fbfcaabad45985bbdf4da0490487e3',
    ]);
  });

  it('folds two inputs in the order of the edges', () => {
    const left = '2be4fe38b4ce63aa5bffc06b65e24e03';
    const right = 'eb99017e0f9125fa6648bf56123bdcf7';
    const made = (inputs: readonly string[]) => generatedOperatorId({ position: 4, chainableOutputs: 1, inputs });
    expect(made([left, right])).toBe('8b481b930a189b6b1762a9d95a61ada1');
    expect(made([left, right])).not.toBe(made([right, left]));
  });
});

describe('isGeneratedSourceId', () => {
  it('knows the first 21 positions and up to 20 chainable outputs', () => {
    const source = (position: number, chainableOutputs: number) =>
      isGeneratedSourceId(generatedOperatorId({ position, chainableOutputs, inputs: [] }));
    expect([source(20, 20), source(21, 0), source(0, 21)]).toEqual([true, false, false]);
  });

  it('does not take the hash of a uid, a made id of a map, or nonsense for one', () => {
    expect(isGeneratedSourceId(operatorIdOfUid('my-uid'))).toBe(false);
    expect(isGeneratedSourceId('7df19f87deec5680128845fd9a6ca18d')).toBe(false);
    expect(isGeneratedSourceId('')).toBe(false);
  });
});
