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

test('parseJsonBody agrees with JSON.parse about everything else', () => {
  const text = String.raw`["a",true,false,null,[],{},{"b":[null,1.5]},"\u00e9\ud83d\ude00\n"]`;
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
  ['nothing', ''],
  ['a comma too many', '{"a":1,}'],
  ['two values', '1 2'],
  ['a number in another form', '01'],
  ['deeply nested arrays', '['.repeat(60_000)],
  ['closed nested arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ['deeply nested objects', '{"a":'.repeat(12_000)],
  ['a stray byte', Buffer.from([0x22, 0xff, 0x22])],
  ['an overlong NUL', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
  ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
])('parseJsonBody throws a SyntaxError for invalid JSON or UTF-8: %s', (_name, body) => {
  expect(() => parseJsonBody(Buffer.from(body as string))).toThrow(SyntaxError);
});
