import ipaddr from 'ipaddr.js';

/** The form in which some proxies write addresses: IPv4 with a port, or IPv6 in brackets. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

/**
 * Returns a client's network: the IPv4 address, also one mapped into IPv6, or the /64 of an IPv6 address, because a client that has
 * one address of a /64 has all of it. Returns `unknown` for anything else, so that a client cannot invent networks.
 */
export function toNetwork(address = ''): string {
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
