import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Nor is a key sane that somebody put there by mistake: the id is logged. */
const SANE = /^(?!.*sk_(live|test)_)[\w.:+/=@-]{1,128}$/;

/** The client's own `X-Request-Id` when it is sane, so that both sides' logs meet; else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
