import ipaddr from 'ipaddr.js';
import { withZero } from '../../http/rules/network.js';

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
  const address = ipaddr.process(withZero(text));
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(...GLOBAL_IPV6));
}

/**
 * Returns the host of a URL if it is an address that is not public, or a name of this machine; null for any
 * other, whose name means nothing before it is looked up.
 *
 * @param host as in a `URL`, where IPv6 has brackets.
 */
export function findPrivateHost(host: string): string | null {
  const name = host.replaceAll(/[[\]]/g, '');
  const isPrivate = ipaddr.isValid(name) ? !isPublicAddress(name) : /(^|\.)localhost\.?$/.test(name);
  return isPrivate ? name : null;
}

/** How to allow what these rules deny. */
export const ALLOW_PRIVATE = 'Set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true to allow it.';
