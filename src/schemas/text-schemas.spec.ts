import { instant } from './instant.js';
import { int32 } from './int32.js';
import { int64 } from './int64.js';
import { bodyLine, bodyString, bodyText } from './text-schemas.js';

describe('a field of a body that is missing', () => {
  it.each(
    Object.entries({
      int32: int32('A number.'),
      int64,
      instant,
      bodyString,
      bodyText: bodyText('A text.', 10),
      bodyLine: bodyLine('A line.', 10),
    }),
  )('is required: %s', (_name, schema) => {
    expect(schema.safeParse(undefined).error?.issues).toMatchObject([{ message: 'is required' }]);
  });
});

describe('a text of several lines', () => {
  it('is a bodyText as it is, and no bodyLine', () => {
    const text = ' one\n\ttwo ';
    expect(bodyText('A text.', 10).parse(text)).toBe(text);
    expect(bodyLine('A line.', 10).safeParse(text).success).toBe(false);
  });
});
