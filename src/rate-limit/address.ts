import ipaddr from 'ipaddr.js';

/**
 * The text that stands for a client's network: an IPv4 address, also one mapped into IPv6, or the /64 of an
 * IPv6 address, since whoever has one address of a /64 has all of it.
 */
export function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) {
    return parsed.toString();
  }
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString().split('%')[0]}/64`);
  return `${network.toRFC5952String()}/64`;
}
