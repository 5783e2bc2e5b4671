import { z } from 'zod';
import { networkText, parseNetwork } from '../http/rules/network.js';
import { SCOPES } from '../http/rules/scope.js';
import { jsonSchema } from './json-schema.js';

const NETWORKS_MAX = 50;
/** The length of an IPv6 network in full. */
const NETWORK_MAX_LENGTH = 43;
const NETWORK_MESSAGE = 'must be a network such as 203.0.113.0/24 or 2001:db8::/32, or an address';

/** What a key may do, in responses; null for all that its role may. */
export const shownScopes = z
  .enum(SCOPES)
  .array()
  .max(SCOPES.length)
  .nullable()
  .meta({ description: 'What the key may do; null for everything that its role may.' });

/** From where a key may be used, in responses; null for anywhere. */
export const shownNetworks = z
  .string()
  .meta({ maxLength: NETWORK_MAX_LENGTH })
  .array()
  .max(NETWORKS_MAX)
  .nullable()
  .meta({ description: 'The networks from which the key may be used; null for anywhere.' });

/** Returns the schema of a list of 1 to `max` items. Their number comes first, so that an error never lists thousands of items. */
const listOf = <Item extends z.ZodType>(item: Item, max: number, noun: string, without: string) =>
  z
    .array(z.unknown(), { error: `must be a list of ${noun}` })
    .refine(({ length }) => length >= 1 && length <= max, {
      error: `must have 1 to ${max} ${noun}, or be left out for ${without}`,
      abort: true,
    })
    .pipe(z.array(item))
    .transform((items) => [...new Set(items)])
    .meta({ minItems: 1, maxItems: max, items: jsonSchema(item, 'input') });

/** The scopes of a new set, in the order of the documentation. */
export const scopeSet = listOf(
  z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }),
  SCOPES.length,
  'scopes',
  'everything that the role of the key may',
)
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))
  .meta({ description: 'What the key may do. Without it, the key may do everything that its role may.' });

/** A network in CIDR notation, or one address. */
const network = z
  .string(NETWORK_MESSAGE)
  .max(NETWORK_MAX_LENGTH, NETWORK_MESSAGE)
  .transform((text) => (text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`))
  .pipe(z.union([z.cidrv4(), z.cidrv6()], NETWORK_MESSAGE))
  .transform((cidr) => networkText(parseNetwork(cidr)));

export const networkSet = listOf(network, NETWORKS_MAX, 'networks', 'any address').meta({
  description: 'The networks from which the key may be used. Without it, any address may use it.',
  examples: [['203.0.113.0/24', '2001:db8::/32']],
});
