/**
 * Control characters, and characters that change the direction of text and so can make one name look like
 * another.
 */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Returns the text with its control characters escaped as in JSON, so that it is one line and cannot control
 * the terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text with the control characters of each line escaped. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
