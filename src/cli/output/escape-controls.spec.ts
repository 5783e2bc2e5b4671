import { escapeControls } from './escape-controls.js';

describe('escapeControls', () => {
  it.each([
    ['an escape sequence', '\u001b[31mred', String.raw`\u001b[31mred`],
    ['line breaks and tabs', 'a\r\n\tb', String.raw`a\u000d\u000a\u0009b`],
    ['NUL and DEL', '\0\u007f', String.raw`\u0000\u007f`],
    ['an eight-bit control', '\u009b31m', String.raw`\u009b31m`],
    ['characters that change the direction of text', 'a\u202eb\u2066', String.raw`a\u202eb\u2066`],
  ])('escapes %s', (_name, text, escaped) => {
    expect(escapeControls(text)).toBe(escaped);
  });

  it.each(['', "Ann's shop", 'Zoë 🐕 動物', String.raw`\u001b`])('leaves %j as it is', (text) => {
    expect(escapeControls(text)).toBe(text);
  });
});
