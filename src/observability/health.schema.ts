import { z } from 'zod';
import { dateTime, plainText } from '../schemas/text-schemas.js';

const MESSAGE_MAX_LENGTH = 8192;
/** The length of the column `migration_name`. */
const MIGRATION_MAX_LENGTH = 255;
const MIGRATIONS_MAX = 1000;
const WARNINGS_MAX = 100;

const upOrDown = z.enum(['up', 'down']).meta({ description: 'Whether the service can use it.' });
const message = plainText(
  'What is wrong, and what to do. Absent if nothing is.',
  MESSAGE_MAX_LENGTH,
).optional();

/** The health of one replica. */
export const Health = z
  .object({
    ready: z.boolean().meta({ description: 'Whether `/readyz` is 200: requests are served.' }),
    draining: z.boolean().meta({ description: 'Whether the replica is shutting down.' }),
    warnings: plainText('What needs attention although requests are served.', MESSAGE_MAX_LENGTH)
      .array()
      .max(WARNINGS_MAX)
      .meta({ description: 'Operations that are removed within 30 days and were called in the last 7.' }),
    parts: z
      .object({
        database: z
          .object({ status: upOrDown, message })
          .meta({ description: 'The database, and the privileges that it grants.' }),
        migrations: z
          .object({
            status: upOrDown,
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
            status: z.enum(['up', 'degraded']).meta({
              description: '`degraded` while it does not respond, so that the replica counts locally.',
            }),
            kind: z.enum(['postgresql', 'redis']).meta({ description: 'What stores the counters.' }),
            since: dateTime('Since when it is degraded. Absent if it is not.').optional(),
            message,
          })
          .meta({ description: 'The store of the rate-limit counters.' }),
      })
      .meta({ description: 'The parts that the replica depends on.' }),
  })
  .meta({
    id: 'Health',
    description: 'The health of one replica.',
    examples: [
      {
        ready: true,
        draining: false,
        warnings: [],
        parts: {
          database: { status: 'up' },
          migrations: { status: 'up', pending: [] },
          counterStore: {
            status: 'degraded',
            kind: 'redis',
            since: '2026-11-21T08:30:00.000Z',
            message:
              'the counter store does not respond, so this replica counts locally: connect ECONNREFUSED',
          },
        },
      },
    ],
  });
export type Health = z.infer<typeof Health>;
