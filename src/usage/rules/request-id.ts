/** The maximum length of an `X-Request-Id`. */
export const REQUEST_ID_MAX_LENGTH = 128;
/**
 * Matches an id after its name, in a message, a header or a line of the log. Any word after a colon, an
 * equals sign or a quote is one; else only a word with a digit is.
 */
const NAMED =
  /request[- ]?id(?:\s+(?:is|was))?(?:["'\s]*[:=]["'\s]*|\s*["']|\s+(?=[\w.:+/=@-]*\d))([\w.:+/=@-]+)/i;
/** Matches a word with a digit: almost every id has one, and few other words of a text do. */
const WORD_WITH_DIGIT = /[\w.:+/=@-]*\d[\w.:+/=@-]*/g;

/**
 * Returns the request id in a text that a reader has pasted: the id, or what contains it, such as the message
 * of an error or the mail of a customer. A text without an id is returned as it is.
 */
export function requestIdIn(text: string): string {
  const whole = text.trim();
  const isSentence = /\s/.test(whole);
  const [, named] = NAMED.exec(whole) ?? [];
  const id = named ?? (isSentence ? longest(whole.match(WORD_WITH_DIGIT)) : null) ?? whole;
  // A sentence ends with a full stop, but an id may too.
  return (isSentence ? id.replace(/[.:]$/, '') : id).slice(0, REQUEST_ID_MAX_LENGTH);
}

function longest(words: string[] | null): string | null {
  return words?.toSorted((a, b) => b.length - a.length)[0] ?? null;
}
