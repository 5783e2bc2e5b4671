import ipaddr from 'ipaddr.js';

/** The form in which some proxies write addresses: IPv4 with a port, or IPv6 in brackets. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

/** An address from a proxy may be any text if `TRUST_PROXY` trusts one too many. */
const ADDRESS = /^[\da-f.:[\]]{2,64}$/i;

/** An address, and the number of leading bits that all addresses of its network share. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** IPv4 as a socket that serves both families has it, and some proxies. */
const IPV4_MAPPED = /^(\[?)::ffff:/i;

/**
 * Returns a client's address as it was seen, but IPv4 that is mapped into IPv6 as IPv4, or `unknown` if a
 * proxy sent something else.
 */
export function addressText(text: string): string {
  if (!ADDRESS.test(text)) {
    return 'unknown';
  }
  return IPV4_MAPPED.test(text) ? (parseAddress(text)?.toString() ?? text) : text;
}

/**
 * Returns a client's network: the IPv4 address, even one mapped into IPv6, or the /64 of an IPv6 address,
 * because a client that has one address of a /64 has all. Any other text is `unknown`, so that a client
 * cannot invent networks.
 */
export function toNetwork(text: string | undefined): string {
  const address = parseAddress(text);
  if (address === null) {
    return 'unknown';
  }
  return address instanceof ipaddr.IPv4 ? address.toString() : networkText([address, 64]);
}

/**
 * Parses an address, or a network in CIDR notation (RFC 4632, RFC 4291). IPv4 that is mapped into IPv6
 * becomes IPv4.
 *
 * @throws Error for any other text.
 */
export function parseNetwork(text: string): Network {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  const [address, bits] = ipaddr.parseCIDR(withZero(cidr));
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/** Returns stored networks, without those of a form that only a newer release knows: they allow nothing. */
export function knownNetworks(texts: readonly string[]): Network[] {
  return texts.flatMap((text) => {
    try {
      return [parseNetwork(text)];
    } catch {
      return [];
    }
  });
}

/** Returns a network in CIDR notation, by its first address. */
export function networkText([address, bits]: Network): string {
  if (address instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
  }
  const [withoutZone] = address.toNormalizedString().split('%');
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/${bits}`).toRFC5952String()}/${bits}`;
}

export function isSubnet([address, bits]: Network, networks: readonly Network[]): boolean {
  return networks.some(
    ([first, outerBits]) =>
      address.kind() === first.kind() && bits >= outerBits && address.match(first, outerBits),
  );
}

export function isInNetworks(text: string | undefined, networks: readonly Network[]): boolean {
  const address = parseAddress(text);
  return networks.some(([first, bits]) => address?.kind() === first.kind() && address.match(first, bits));
}

/** Returns an address, as IPv4 if it is mapped into IPv6, else null: a closed connection has no address. */
function parseAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text === undefined) {
    return null;
  }
  const { v4, v6 } = WITH_PORT.exec(text)?.groups ?? {};
  const bare = v6 ?? v4 ?? text;
  // Other forms of IPv4, such as `010.0.0.1`, mean different addresses to different programs.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(bare) || (bare.includes(':') && ipaddr.isValid(bare));
  return isAddress ? ipaddr.process(withZero(bare)) : null;
}

/**
 * Returns the same address in a form that `ipaddr.js` does not misread: it takes `::203.0.113.7`, which is
 * IPv4-compatible (RFC 4291, section 2.5.5.1), for the mapped `::ffff:203.0.113.7`.
 */
export function withZero(address: string): string {
  return address.replace(/^::(?=\d+\.)/, '0::');
}
