import { parseJsonBody } from './json-body.js';

const parse = (text: string): unknown => parseJsonBody(Buffer.from(text));

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['-7', -7n],
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9'.repeat(100), BigInt('9'.repeat(100))],
])('parseJsonBody returns an integer exactly: %s', (text, value) => {
  expect(parse(text)).toBe(value);
});

test.each([
  ['7.0', 7],
  ['1e3', 1000],
  ['-1.5E-1', -0.15],
  ['1e999', Infinity],
])('parseJsonBody returns a double for a number with a fraction or an exponent: %s', (text, value) => {
  expect(parse(text)).toBe(value);
});

test.each([
  '"a"',
  'true',
  'false',
  'null',
  '[]',
  '{}',
  '[1.5,"a",{"b":[null]}]',
  String.raw`"\u00e9\ud83d\ude00\n"`,
])('parseJsonBody agrees with JSON.parse: %s', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('parseJsonBody returns the last value of a repeated key', () => {
  expect(parse('{"a":1,"b":2,"a":"x"}')).toEqual({ a: 'x', b: 2n });
});

test('parseJsonBody treats __proto__ as an ordinary key, and changes no prototype', () => {
  const value = parse('{"__proto__":{"polluted":true}}') as { polluted?: boolean };
  expect(value.polluted).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each([
  '',
  ' ',
  '{',
  '[1,]',
  '{"a":1,}',
  "{'a':1}",
  '01',
  '+1',
  '.5',
  '1.',
  'NaN',
  '1 2',
  '"\n"',
  String.raw`"\x"`,
])('parseJsonBody throws a SyntaxError for invalid JSON: %j', (text) => {
  expect(() => parse(text)).toThrow(SyntaxError);
});

test.each([
  ['arrays', '['.repeat(60_000)],
  ['closed arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ['objects', '{"a":'.repeat(12_000)],
])('parseJsonBody throws a SyntaxError for deeply nested %s', (_name, text) => {
  expect(() => parse(text)).toThrow(SyntaxError);
});

test.each([
  ['a stray byte', [0x22, 0xff, 0x22]],
  ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
  ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
])('parseJsonBody throws a SyntaxError for bytes that are not UTF-8: %s', (_name, bytes) => {
  expect(() => parseJsonBody(Buffer.from(bytes))).toThrow(SyntaxError);
});
