/** What a terminal obeys rather than shows, and what turns the order of letters, so that one name can look like another. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Returns the text with its control characters escaped as in JSON: it is one line, and changes nothing of the terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text with control characters escaped in each of its lines. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
