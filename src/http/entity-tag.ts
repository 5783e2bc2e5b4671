import { hash } from 'node:crypto';

const TAG = /"[^"]*"/g;

/**
 * A strong `ETag` (RFC 9110, section 8.8.3) of a body and its `Link`: a list that goes on is another than the same that
 * ends.
 */
export function entityTag(body: string, link = ''): string {
  return `"${hash('sha1', `${link}\n${body}`, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` names this tag (RFC 9110, section 13.1.2), by the weak comparison. A `Cache-Control: no-cache` beside it
 * means nothing here, though some libraries take it for a wish: `fetch` adds it to every request with an `If-None-Match`.
 */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || ifNoneMatch.match(TAG)?.includes(tag) === true;
}
