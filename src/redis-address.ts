/** Where a Redis or Valkey server is, and as whom to come. */
export interface RedisAddress {
  host: string;
  port: number;
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
  /** The number of its database; a Cluster has only 0. */
  db: number;
}

const DEFAULT_PORT = 6379;

/**
 * Reads addresses such as `redis://user:password@host:6379/0`, with commas between, of one server or of some nodes of
 * a Cluster. Null when one of them is none, or when they differ in more than host and port.
 */
export function parseRedisAddresses(text: string): RedisAddress[] | null {
  const addresses: RedisAddress[] = [];
  for (const part of text.split(',')) {
    const address = parseRedisAddress(part.trim());
    if (address === null) {
      return null;
    }
    addresses.push(address);
  }
  const kinds = new Set(addresses.map(({ host: _host, port: _port, ...rest }) => JSON.stringify(rest)));
  const isOneServer = addresses.length === 1;
  return isOneServer || (kinds.size === 1 && addresses[0]?.db === 0) ? addresses : null;
}

function parseRedisAddress(text: string): RedisAddress | null {
  if (!URL.canParse(text)) {
    return null;
  }
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const [, db] = /^(?:\/(\d{0,5}))?$/.exec(pathname) ?? [null, null];
  // What a query might say is a matter of the client's options, which are not the operator's.
  if (!/^rediss?:$/.test(protocol) || hostname === '' || db === null || search !== '' || hash !== '') {
    return null;
  }
  try {
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || DEFAULT_PORT),
      tls: protocol === 'rediss:',
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      db: Number(db ?? 0),
    };
  } catch {
    return null; // A percent sign that escapes nothing.
  }
}
