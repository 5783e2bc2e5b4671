import ipaddr from 'ipaddr.js';

/** What some proxies write: an IPv4 address with a port, or an IPv6 address in brackets. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

/**
 * The text that stands for a client's network: an IPv4 address, also one mapped into IPv6, or the /64 of an
 * IPv6 address, since whoever has one address of a /64 has all of it. What is no address is `unknown`: one
 * network for all, so that nobody can invent networks.
 */
export function networkOf(address = ''): string {
  const { v4, v6 } = WITH_PORT.exec(address)?.groups ?? {};
  const bare = v6 ?? v4 ?? address;
  if (!ipaddr.isValid(bare)) {
    return 'unknown';
  }
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) {
    return parsed.toString();
  }
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString().split('%')[0]}/64`);
  return `${network.toRFC5952String()}/64`;
}
