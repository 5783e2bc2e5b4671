import type { OpenAPIObject } from '@nestjs/swagger';

const DESCRIPTION = `The animals of a store: list them, add one, read one.

**Keys.** Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. A key is for one environment.
While a key that expires still works, every response tells until when, in \`X-Api-Key-Expires\`.

**Limits.** Requests are counted per UTC minute and per UTC day. Every response tells where you stand, in
\`X-RateLimit-*\` and in \`RateLimit\`. Over a limit the answer is 429; wait as \`Retry-After\` tells before you try again, and
longer each time. A key that goes on without waiting, for as many requests as its limit per minute, is banned for a while.

| Plan | Requests per minute | Requests per day |
|---|---|---|
| Free | 60 | 1,000 |
| Pro | 300 | 10,000 |
| Business | 1,000 | 100,000 |
| Enterprise | custom | custom |

**Trying again.** Send a \`POST\` under \`/v1\` with an \`Idempotency-Key\` of your own, new for each: if you get no answer, send the
same again, within 24 hours. It happens once, and you are given the first answer (\`Idempotent-Replayed: true\`); 409 says that the
first is still under way, 422 that the key came with another request. Only what succeeded is kept.

**Asking anew.** Animals, and the lists of animals and of orders, have an \`ETag\`. With \`If-None-Match\` the answer is 304, without a body, while it still holds.

**Lists.** Oldest first. Follow the \`Link\` header with \`rel="next"\` to the next page, as long as there is one.

**Errors.** Every error has the same three fields: \`code\` for a program, \`message\` for a human, \`status\`. When you ask us about a
response, tell us its \`X-Request-Id\`.

**Integers.** Identifiers are 64-bit. Read them with a parser that keeps all their digits.`;

/** The tag of all that needs an administrator's key. */
export const ADMINISTRATION_TAG = 'administration';

/** What the document says of the interface as a whole. */
export const about = {
  openapi: '3.1.0',
  info: {
    title: 'Animal Store',
    version: '1.0.0',
    description: DESCRIPTION,
    license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
  },
  tags: [
    { name: 'pets', description: 'The animals that the store offers.' },
    { name: 'store', description: 'Orders of animals.' },
    { name: 'limits', description: 'Where a key stands.' },
    {
      name: ADMINISTRATION_TAG,
      description: 'Keys, plans, usage and the audit. For keys whose role is `admin`; others are told 403.',
    },
  ],
  security: [{ apiKey: [] }],
} satisfies Partial<OpenAPIObject>;

/** How a client proves who it is; `about.security` asks it of every operation. */
export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ask_live_… or ask_test_…',
    description:
      'Your API key. Keys of production begin with `ask_live_`, those of staging with `ask_test_`.',
  },
} satisfies NonNullable<OpenAPIObject['components']>['securitySchemes'];
