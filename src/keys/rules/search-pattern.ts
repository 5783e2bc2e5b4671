/** The cases of a letter, besides its small and its capital one. */
const OTHER_CASES: Record<string, string> = { i: 'İı', σ: 'ς' };

/** Punctuation of ASCII, which means itself in a regular expression of PostgreSQL after a backslash. */
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;

/**
 * Returns a regular expression of PostgreSQL that finds a text, in any case, in a text of the normal form
 * NFKC with `ss` for each `ß`. It lists the cases of each letter, because those that PostgreSQL finds depend
 * on the locale of the database: with `C`, only those of ASCII.
 */
export function searchPattern(text: string): string {
  return Array.from(text.normalize('NFKC').replaceAll(/[ßẞ]/g, 'ss'), anyCase).join('');
}

function anyCase(character: string): string {
  const small = smallLetter(character);
  const capital = oneLetter(small.toUpperCase()) ?? small;
  const cases = new Set([small, capital, ...Array.from(OTHER_CASES[small] ?? ''), character]);
  if (cases.size > 1) {
    return `[${[...cases].join('')}]`;
  }
  return PUNCTUATION.test(small) ? `\\${small}` : small;
}

/** Returns the small letter of a character, which is `i` for the Turkish letters with and without a dot. */
function smallLetter(character: string): string {
  const capital = oneLetter(character.toUpperCase()) ?? character;
  return Array.from(capital.toLowerCase())[0] ?? character;
}

/** Returns a text that is one character, else null, such as for `J̌`, the capital of `ǰ`. */
function oneLetter(text: string): string | null {
  return Array.from(text).length === 1 ? text : null;
}
