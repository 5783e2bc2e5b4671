import { indentJson, isJson, jsonParts } from './json-text';

describe('indentJson', () => {
  it.each([
    [
      '[{"id":9223372036854775807,"x":[1,2]}]',
      '[\n  {\n    "id": 9223372036854775807,\n    "x": [\n      1,\n      2\n    ]\n  }\n]',
    ],
    ['{"a":1.0,"a":1e3}', '{\n  "a": 1.0,\n  "a": 1e3\n}'],
    ['{"t":"{[\\",:]} \\\\"}', '{\n  "t": "{[\\",:]} \\\\"\n}'],
    ['{"a":[],"b":{ }}', '{\n  "a": [],\n  "b": {}\n}'],
    [' null ', 'null'],
  ])('keeps every token of %s', (text, indented) => {
    expect(indentJson(text)).toBe(indented);
  });

  it('writes an object as JSON.stringify does', () => {
    const value = { a: [{ b: 'x: y', c: [] }, 1, true, null], d: {} };
    expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  });
});

describe('isJson', () => {
  it.each([
    ['{"a":1}', true],
    ['{"a":1', false],
    ['', false],
  ])('returns for %j: %s', (text, expected) => {
    expect(isJson(text)).toBe(expected);
  });
});

describe('jsonParts', () => {
  it('names the kind of each part and loses none', () => {
    const text = indentJson('{"name":"a: \\"b\\"","n":-1.5e+3,"w":[true,null]}');
    const parts = jsonParts(text);
    expect(parts.map((part) => part.text).join('')).toBe(text);
    expect(parts.filter(({ kind }) => kind !== 'mark').map((part) => `${part.kind} ${part.text}`)).toEqual([
      'name "name"',
      'string "a: \\"b\\""',
      'name "n"',
      'number -1.5e+3',
      'name "w"',
      'word true',
      'word null',
    ]);
  });
});
