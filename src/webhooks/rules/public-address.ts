import ipaddr from 'ipaddr.js';
import { withZero } from '../../http/rules/network.js';

/**
 * The addresses that IANA assigns for global unicast; all others are reserved, or stand for an address of
 * IPv4.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Ends with the IPv4 address that a network without IPv4 reaches by it (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const NAT64_PREFIX_BYTES = 12;

/**
 * Returns whether an address is on the public Internet: neither loopback, private or link-local, nor
 * reserved, nor an IPv4 address in disguise, but for one behind the well-known prefix of NAT64.
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(withZero(text));
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast';
  }
  if (address.match(...NAT64)) {
    return new ipaddr.IPv4(address.toByteArray().slice(NAT64_PREFIX_BYTES)).range() === 'unicast';
  }
  return address.range() === 'unicast' && address.match(...GLOBAL_IPV6);
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
