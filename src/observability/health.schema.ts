import { z } from 'zod';
import { openEnum } from '../schemas/open-enum.js';
import { dateTime, plainText } from '../schemas/text-schemas.js';
import { warnings } from '../schemas/warnings.js';

const MESSAGE_MAX_LENGTH = 8192;
/** The length of the column `migration_name`. */
const MIGRATION_MAX_LENGTH = 255;
const MIGRATIONS_MAX = 1000;
const VERSION_MAX_LENGTH = 64;

const status = openEnum(['up', 'degraded', 'down']).meta({
  description:
    'Whether the replica can use it. While it is `degraded`, requests are served with a restriction.',
});
const message = plainText(
  'What is wrong, and what to do. Absent if nothing is.',
  MESSAGE_MAX_LENGTH,
).optional();

/** The health of one replica. */
export const Health = z
  .object({
    status: openEnum(['ready', 'not_ready', 'draining']).meta({
      description:
        '`ready` if `/readyz` is 200: requests are served. `draining` while the replica shuts down.',
    }),
    version: plainText('Version of the release that the replica runs.', VERSION_MAX_LENGTH),
    warnings: warnings(
      ['deprecated_operation_called'],
      'What needs attention although requests are served, such as an operation that is removed within 30 ' +
        'days and was called in the last 7.',
    ),
    components: z
      .object({
        database: z
          .object({ status, message })
          .meta({ description: 'The database, and the privileges that it grants.' }),
        migrations: z
          .object({
            status,
            pending: plainText('Name of a migration.', MIGRATION_MAX_LENGTH)
              .array()
              .max(MIGRATIONS_MAX)
              .optional()
              .meta({ description: 'The migrations that the database lacks. Absent if they are unknown.' }),
            message,
          })
          .optional()
          .meta({ description: 'The migrations. Absent while the database is down.' }),
        counterStore: z
          .object({
            status: status.meta({
              description: '`degraded` while it does not respond, so that the replica counts locally.',
            }),
            kind: openEnum(['postgresql', 'redis']).meta({ description: 'What stores the counters.' }),
            degradedAt: dateTime('Since when it is degraded. Absent if it is not.').optional(),
            message,
          })
          .meta({ description: 'The store of the rate-limit counters.' }),
      })
      .meta({ description: 'What the replica depends on.' }),
  })
  .meta({
    id: 'Health',
    description: 'The health of one replica.',
    examples: [
      {
        status: 'ready',
        version: '1.4.0',
        warnings: [
          {
            code: 'deprecated_operation_called',
            message: 'getPet will be removed on 2030-12-05, but 3 keys called it in the last 7 days',
          },
        ],
        components: {
          database: { status: 'up' },
          migrations: { status: 'up', pending: [] },
          counterStore: {
            status: 'degraded',
            kind: 'redis',
            degradedAt: '2026-11-21T08:30:00.000Z',
            message: 'the counter store is unavailable, so this replica counts locally: connect ECONNREFUSED',
          },
        },
      },
    ],
  });
export type Health = z.infer<typeof Health>;
