import { z } from 'zod';
import { openEnum } from '../schemas/open-enum.js';
import { dateTime, plainText, uuid } from '../schemas/text-schemas.js';
import { warnings } from '../schemas/warnings.js';

const MESSAGE_MAX_LENGTH = 8192;
/** The length of the column `migration_name`. */
const MIGRATION_MAX_LENGTH = 255;
const MIGRATIONS_MAX = 1000;
const VERSION_MAX_LENGTH = 64;
const HOST_MAX_LENGTH = 255;
const REPLICAS_MAX = 1000;

const status = openEnum(['up', 'degraded', 'down']).meta({
  description:
    'Whether the replica can use it. While it is `degraded`, requests are served with a restriction.',
});
const message = plainText(
  'What is wrong, and what to do. Absent if nothing is.',
  MESSAGE_MAX_LENGTH,
).optional();

const Replica = z
  .object({
    id: uuid('Identifier of the replica, new at each start.'),
    version: plainText('Its version.', VERSION_MAX_LENGTH),
    host: plainText('Name of its host, container or pod.', HOST_MAX_LENGTH),
    startedAt: dateTime('When it started.'),
    lastSeenAt: dateTime('When it last reported that it serves.'),
  })
  .meta({ id: 'Replica', description: 'A replica that serves.' });
export type Replica = z.infer<typeof Replica>;

export const Health = z
  .object({
    status: openEnum(['ready', 'not_ready', 'draining']).meta({
      description:
        '`ready` if `/readyz` is 200: requests are served. `draining` while the replica shuts down.',
    }),
    version: plainText('Version of the release that the responding replica runs.', VERSION_MAX_LENGTH),
    replicas: Replica.array()
      .max(REPLICAS_MAX)
      .optional()
      .meta({
        description:
          'The replicas that reported in the last minute that they serve, the longest-running first, as ' +
          'the responding one saw them within the last ten seconds. One that stops, or lacks a migration, ' +
          'is gone some seconds later. Absent if the responding one does not serve or could not report.',
      }),
    warnings: warnings(
      ['deprecated_operation_called', 'versions_mixed', 'sequence_behind', 'eviction_policy_unknown'],
      'What needs attention although requests are served, such as an operation that is removed within 30 ' +
        'days and was called in the last 7, replicas of several versions, a sequence whose next values ' +
        'are taken, or a Redis that may evict counts and bans.',
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
              description:
                '`degraded` while it does not respond or cannot count, so that the replica counts locally.',
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
        replicas: [
          {
            id: '0b6ec9a2-5c1b-4c6c-9d0f-5a0a9c2f4d11',
            version: '1.4.0',
            host: 'animal-store-7c9f5',
            startedAt: '2026-11-21T08:00:00.000Z',
            lastSeenAt: '2026-11-21T08:31:00.000Z',
          },
        ],
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
