import { readFileSync } from 'node:fs';

/** The byte order marks of UTF-16, which PowerShell and editors on Windows write. */
const UTF_16 = { 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] };
const NO_TEXT = 'it is neither UTF-8 nor UTF-16';
const FAILURES: Record<string, string> = {
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ERR_ENCODING_INVALID_ENCODED_DATA: NO_TEXT,
};

/**
 * Returns the text of a file in UTF-8, or in UTF-16 with a byte order mark; the mark is left out.
 *
 * @throws the error of the file system, or of an encoding; `readFailure` describes it.
 */
export function readTextFile(file: string): string {
  const bytes = readFileSync(file);
  const [encoding] = Object.entries(UTF_16).find(([, mark]) =>
    mark.every((byte, at) => bytes[at] === byte),
  ) ?? ['utf-8'];
  const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  if (text.includes('\0')) {
    throw new Error(NO_TEXT);
  }
  return text;
}

export function readFailure(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return FAILURES[code] ?? message;
}
