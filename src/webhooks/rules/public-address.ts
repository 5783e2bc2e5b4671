import ipaddr from 'ipaddr.js';

/**
 * The addresses that IANA assigns for global unicast; all others are reserved, or stand for an address of
 * IPv4.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns whether an address is on the public Internet: neither loopback, private or link-local, nor
 * reserved, nor an IPv4 address in disguise.
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(...GLOBAL_IPV6));
}
