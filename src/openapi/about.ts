import type { OpenAPIObject } from '@nestjs/swagger';
import { BUILT_IN_PLANS } from '../auth/rules/built-in-plans.js';
import { VERSION } from '../process/version.js';

const STORE = 'The animals of a store: list them, add one, read one.';

const ADMINISTRATION =
  'Keys, plans, usage, webhooks, the audit trail and the health of the Animal Store. ' +
  'Every request needs an API key whose role is `admin`; other keys get 403.';

const KEYS = `\
**Keys.** Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. A key is for one
environment. While a key that expires is still valid, every response has \`X-Api-Key-Expires\`, the time at
which it expires.`;

const LIMITS = `\
**Limits.** The service counts requests per UTC minute and per UTC day. Every response reports the limits in
\`X-RateLimit-*\` and in \`RateLimit\`. A request over a limit gets 429: wait for \`Retry-After\`; after
repeated 429s, wait longer each time. A key that is denied as often within a minute as its limit per minute
is banned for a while; the message of each 429 says how many more denials start a ban. More requests in
flight than a client's share of a server get 429 \`too_many_concurrent_requests\`: send fewer at once.`;

const PLANS_AS_DELIVERED = `\
**Plans.** These are the plans as delivered. This service may have other limits and further plans:
\`GET /v1/rate-limit\` returns the limits of your key.`;

const count = (limit: number | null) => limit?.toLocaleString('en-US') ?? 'set for each quota';
const PLANS = [
  '| Plan | Requests per minute | Requests per day |',
  '|---|---|---|',
  ...Object.entries(BUILT_IN_PLANS).map(
    ([name, { perMinute, perDay }]) =>
      `| ${name.charAt(0).toUpperCase()}${name.slice(1)} | ${count(perMinute)} | ${count(perDay)} |`,
  ),
].join('\n');

const RETRIES = `\
**Retries.** Send operations that take an \`Idempotency-Key\`, such as \`POST /v1/pets\`, with a new one. If
you get no response, send the same request again within 24 hours: it is carried out once, and you get the
first response (\`Idempotent-Replayed: true\`). 409 means that the first request is still in progress,
422 that the key was used for a different request. Only successful responses are stored.`;

const REVALIDATION = `\
**Revalidation.** A response of an operation with the header \`If-None-Match\` has an \`ETag\`. A request
that names it gets 304 without a body while the resource is unchanged.`;

const LISTS =
  `**Lists.** The \`Link\` header with \`rel="next"\` leads to the next page, if there is one. ` +
  `Its \`cursor\` is opaque.`;

const ERRORS = `\
**Errors.** Every error has the same three fields: \`code\` for a program, \`message\` for a human,
\`status\`. Quote the \`X-Request-Id\` of a response when you report it.`;

const VERSIONS = `\
**Versions.** Operations, optional parameters, response fields, headers, error codes of the same status and
values of enumerations in responses (except \`PetStatus\`) may be added at any time. Ignore what you do not
know.`;

const INTEGERS = `**Integers.** Identifiers are 64-bit. Read them with a parser that keeps all their digits.`;

/** The parts of a document that describe its interface as a whole. */
export type About = Pick<OpenAPIObject, 'openapi' | 'info' | 'security'>;

const describe = (title: string, ...paragraphs: string[]): About => ({
  openapi: '3.1.0',
  info: {
    title,
    version: VERSION,
    description: paragraphs.join('\n\n'),
    license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
  },
  security: [{ apiKey: [] }],
});

/** Describes the public interface. */
export const about = describe(
  'Animal Store',
  STORE,
  KEYS,
  LIMITS,
  PLANS_AS_DELIVERED,
  PLANS,
  RETRIES,
  REVALIDATION,
  `${LISTS} Entries are oldest first, those of usage newest first.`,
  ERRORS,
  VERSIONS,
  INTEGERS,
);

/** Describes administration. */
export const aboutAdministration = describe(
  'Animal Store administration',
  ADMINISTRATION,
  KEYS,
  LIMITS,
  LISTS,
  ERRORS,
  VERSIONS,
);

/** The authentication scheme, which `security` requires for every operation. */
export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ask_live_… or ask_test_…',
    description:
      'Your API key. Keys of production begin with `ask_live_`, those of staging with `ask_test_`.',
  },
} satisfies NonNullable<OpenAPIObject['components']>['securitySchemes'];
