import { z } from 'zod';
import { dateTime, plainText, uuid } from '../schemas/text-schemas.js';

/** The longest list; a fleet that is larger shows its oldest replicas. */
export const REPLICAS_MAX = 1000;

export const Replica = z
  .object({
    id: uuid('Identifier of the process.'),
    host: plainText('Name of the host or container that it runs on.', 255),
    startedAt: dateTime('When it started.'),
    seenAt: dateTime(
      'Time of its last heartbeat. One older than 15 seconds means that the replica was killed, or cannot write to the database.',
    ),
    countsLocallySince: dateTime(
      'Since when it has counted requests locally, as its counter store was away at the last heartbeat; null if it counts in the store.',
    ).nullable(),
  })
  .meta({
    id: 'Replica',
    description: 'A process of this service that serves requests.',
    examples: [
      {
        id: '3f0c8a54-5d6e-4b7a-9a52-0d3c0f8f6a11',
        host: 'animal-store-1',
        startedAt: '2026-11-21T08:30:00.000Z',
        seenAt: '2026-11-21T12:00:05.000Z',
        countsLocallySince: null,
      },
    ],
  });
export type Replica = z.infer<typeof Replica>;
