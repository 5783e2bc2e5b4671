import { REQUEST_ID_MAX_LENGTH } from './failed-requests-search';

/** Matches an id after its name, in a message, a header or a line of the log. */
const NAMED = /request[- ]?id["':\s]+([\w.:+/=@-]+)/i;

/**
 * Returns the request id in a text that a reader has pasted: the id, or what contains it, such as the message
 * of an error.
 */
export function requestIdIn(text: string): string {
  const [, id = text] = NAMED.exec(text) ?? [];
  // A message ends with a full stop.
  return id.trim().replace(/\.$/, '').slice(0, REQUEST_ID_MAX_LENGTH);
}
