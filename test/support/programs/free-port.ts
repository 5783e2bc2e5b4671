import { randomInt } from 'node:crypto';
import getPort from 'get-port';

/** Linux gives the ports from 32,768 on to connections that choose none (ip(7), `ip_local_port_range`). */
const [LEAST, GREATEST] = [20_000, 32_767];
const ATTEMPTS = 20;

/** Returns a free port that no connection takes, so that a server which was killed can start on it again. */
export function freePort(): Promise<number> {
  const port = Array.from({ length: ATTEMPTS }, () => randomInt(LEAST, GREATEST));
  return getPort({ host: '127.0.0.1', port });
}
