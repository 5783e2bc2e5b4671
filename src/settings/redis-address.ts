/** The address of a Redis or Valkey server, and the credentials. */
export interface RedisAddress {
  host: string;
  port: number;
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
  /** The number of the database; a Cluster has only 0. */
  db: number;
}

const DEFAULT_PORT = 6379;

/**
 * Parses a comma-separated list of addresses such as `redis://user:password@host:6379/0`, of one server or of several nodes of one
 * Cluster. Returns null if an address is invalid, or if they differ in more than host and port.
 */
export function parseRedisAddresses(text: string): RedisAddress[] | null {
  const addresses = text.split(',').map((part) => parseRedisAddress(part.trim()));
  if (!addresses.every((address) => address !== null)) {
    return null;
  }
  const kinds = new Set(addresses.map(({ host: _host, port: _port, ...rest }) => JSON.stringify(rest)));
  const isOneServer = addresses.length === 1;
  return isOneServer || (kinds.size === 1 && addresses[0]?.db === 0) ? addresses : null;
}

function parseRedisAddress(text: string): RedisAddress | null {
  try {
    const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
    const [, db] = /^(?:\/(\d{0,5}))?$/.exec(pathname) ?? [null, null];
    // A query would set options of the Redis client, which are not configurable.
    if (!/^rediss?:$/.test(protocol) || hostname === '' || db === null || search !== '' || hash !== '') {
      return null;
    }
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || DEFAULT_PORT),
      tls: protocol === 'rediss:',
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      db: Number(db ?? 0),
    };
  } catch {
    return null; // No URL, or a percent sign that escapes nothing.
  }
}
