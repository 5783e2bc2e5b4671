import { z } from 'zod';
import { networkText, parseNetwork } from '../http/rules/network.js';
import { LISTED_SCOPES, SCOPES } from '../auth/rules/scope.js';
import { jsonSchema } from '../schemas/json-schema.js';
import { openEnumList } from '../schemas/open-enum.js';
import { NETWORKS_MAX } from './rules/further-key.js';

const SCOPES_DESCRIPTION =
  'What the key may do: null for everything that its role may, except ' +
  `${LISTED_SCOPES.map((scope) => `\`${scope}\``).join(', ')}; an empty list for nothing that needs a scope.`;

const NETWORK_MAX_LENGTH = 43;
const NETWORK_MESSAGE = 'must be a network such as 203.0.113.0/24 or 2001:db8::/32, or an address';
/**
 * Deprecated (RFC 4291, section 2.5.5.1); PostgreSQL would write it in another form than its canonical text.
 */
const IPV4_COMPATIBLE = /^::[\da-f]+:[\da-f]+\//;
const NETWORK = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);

/**
 * Returns the schema of a list of up to `max` items. Their number comes first, so that an error never lists
 * thousands of items.
 */
function listOf<Item extends z.ZodType>(item: Item, max: number, noun: string) {
  const error = `must be a list of up to ${max} ${noun}, or null for no restriction`;
  // `max` would count the characters of a string too.
  return z
    .array(z.unknown(), error)
    .refine(({ length }) => length <= max, error)
    .meta({ items: jsonSchema(item, 'input'), maxItems: max })
    .pipe(z.array(item))
    .nullable();
}

const scope = z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`);
const network = z
  .string(NETWORK_MESSAGE)
  .max(NETWORK_MAX_LENGTH, { error: NETWORK_MESSAGE, abort: true })
  .refine((text) => NETWORK.safeParse(text).success, { error: NETWORK_MESSAGE, abort: true })
  .overwrite((text) => networkText(parseNetwork(text)))
  .refine((text) => !IPV4_COMPATIBLE.test(text), 'must not be an IPv4-compatible address');

/** What a key may do, and from where: null for no restriction, an empty list for nothing and nowhere. */
export const restrictions = {
  scopes: listOf(scope, SCOPES.length, 'scopes').meta({
    description: SCOPES_DESCRIPTION,
  }),
  allowedNetworks: listOf(network, NETWORKS_MAX, 'networks').meta({
    description: 'The networks from which the key may be used: null for anywhere; an empty list for nowhere.',
    examples: [['203.0.113.0/24', '2001:db8::/32']],
  }),
};

/** The same in responses. */
export const shownRestrictions = {
  ...restrictions,
  scopes: openEnumList(SCOPES, SCOPES_DESCRIPTION).nullable(),
};
