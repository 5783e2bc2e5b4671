/** The address of a Redis or Valkey server, and the credentials. */
export interface RedisAddress {
  host: string;
  port: number;
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
  /** The number of the database; a Cluster has only 0. */
  db: number;
  /** The master, to which the credentials belong, if this is the address of a Sentinel. */
  masterName: string | undefined;
}

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;
/** Sentinels with the name of their master, which they allow to have these characters. */
const SENTINELS = /^(rediss?)\+sentinel:\/\/([^@/]*@)?([^@/?#]+)\/([\w.-]+)$/;

/**
 * Parses a comma-separated list of addresses such as `redis://user:password@host:6379/0`, of one server or of
 * several nodes of one Cluster; or of Sentinels, `redis+sentinel://user:password@host:26379,host:26379/NAME`.
 * Returns null if an address is invalid, or if they differ in more than host and port.
 */
export function parseRedisAddresses(text: string): RedisAddress[] | null {
  const [, scheme, credentials = '', sentinels, masterName] = SENTINELS.exec(text) ?? [];
  const addresses = (sentinels ?? text).split(',').map((part) => {
    const prefix = sentinels === undefined ? '' : `${scheme}://${credentials}`;
    return parseRedisAddress(`${prefix}${part.trim()}`, masterName);
  });
  if (!addresses.every((address) => address !== null)) {
    return null;
  }
  const kinds = new Set(addresses.map(({ host: _host, port: _port, ...rest }) => JSON.stringify(rest)));
  const isOneServer = addresses.length === 1;
  return isOneServer || (kinds.size === 1 && addresses[0]?.db === 0) ? addresses : null;
}

function parseRedisAddress(text: string, masterName: string | undefined): RedisAddress | null {
  try {
    const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
    const [, db] = /^(?:\/(\d{0,5}))?$/.exec(pathname) ?? [null, null];
    // A query would set options of the Redis client, which are not configurable.
    if (!/^rediss?:$/.test(protocol) || hostname === '' || db === null || search !== '' || hash !== '') {
      return null;
    }
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || (masterName === undefined ? DEFAULT_PORT : SENTINEL_PORT)),
      tls: protocol === 'rediss:',
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      db: Number(db ?? 0),
      masterName,
    };
  } catch {
    return null; // No URL, or a percent sign that escapes nothing.
  }
}
