import { z } from 'zod';
import { openEnum } from '../schemas/open-enum.js';
import { parseInt64 } from '../schemas/int64.js';
import { instantParameter } from '../schemas/instant.js';
import { cursorParameter, enumParameter, limitParameter } from '../schemas/pagination.js';
import {
  dateTime,
  keyHints,
  KEY_NAME_MAX_LENGTH,
  lineParameter,
  plainText,
} from '../schemas/text-schemas.js';
import { uuidParameter } from '../schemas/uuid.js';
import { ACTIONS, ACTOR_TYPES, SUBJECT_TYPES } from './audit.js';

const ID_MAX_LENGTH = 63;

/** What tells a key apart; null for another type, or if the key was deleted. */
const hints = { prefix: keyHints.prefix.nullable(), lastFour: keyHints.lastFour.nullable() };

const AuditActor = z
  .object({
    type: openEnum(ACTOR_TYPES).meta({
      description:
        '`key` for a request with a key, `terminal` for a person at the terminal, `service` for the ' +
        'service itself.',
    }),
    id: plainText('Identifier of the key; null for another type.', ID_MAX_LENGTH).nullable(),
    name: plainText(
      'The name of the key now, or the name that the person had at the terminal; null for the service, ' +
        'or if the key was deleted.',
      KEY_NAME_MAX_LENGTH,
    ).nullable(),
    ...hints,
  })
  .meta({ id: 'AuditActor', description: 'Who acted.' });

const AuditSubject = z
  .object({
    type: openEnum(SUBJECT_TYPES).meta({ description: 'What kind of resource it is.' }),
    id: plainText('Identifier of the resource. That of a plan is its name.', ID_MAX_LENGTH),
    name: plainText(
      'The name of the key now, or of the plan; null for another type, or if the key was deleted.',
      KEY_NAME_MAX_LENGTH,
    ).nullable(),
    ...hints,
  })
  .meta({ id: 'AuditSubject', description: 'What an action changed.' });

const fields = z.record(z.string().max(64), z.unknown());

export const AuditEvent = z
  .object({
    id: plainText('Identifier of the event.', 19),
    createdAt: dateTime('The time of the action.'),
    actor: AuditActor,
    action: openEnum(ACTIONS).meta({ description: 'The action.' }),
    subject: AuditSubject,
    before: fields
      .nullable()
      .meta({ description: 'The changed fields before the action; null if the action created something.' }),
    after: fields.meta({ description: 'The same fields after the action.' }),
  })
  .meta({
    id: 'AuditEvent',
    description: 'An action of an administrator or of the holder of a key.',
    examples: [
      {
        id: '12',
        createdAt: '2026-11-21T08:30:00.000Z',
        actor: { type: 'terminal', id: null, name: 'ann', prefix: null, lastFour: null },
        action: 'plan.updated',
        subject: { type: 'plan', id: 'free', name: 'free', prefix: null, lastFour: null },
        before: { perMinute: 60, perDay: 1000 },
        after: { perMinute: 120, perDay: 3000 },
      },
    ],
  });
export type AuditEvent = z.infer<typeof AuditEvent>;

export const actorName = lineParameter(
  'Only actions of the person with exactly this name at the terminal.',
  KEY_NAME_MAX_LENGTH,
);

export const AuditQuery = z.object({
  limit: limitParameter('Maximum number of events returned.'),
  actorType: enumParameter(ACTOR_TYPES, 'Only actions of such actors.'),
  actorId: uuidParameter('Only actions of requests with the key with this identifier.'),
  actorName: actorName.optional(),
  action: enumParameter(ACTIONS, 'Only events of this action.'),
  keyId: uuidParameter('Only events on the key with this identifier; with `quotaId`, those on either.'),
  quotaId: uuidParameter('Only events on the quota with this identifier; with `keyId`, those on either.'),
  since: instantParameter('Only events of this time or later.'),
  until: instantParameter('Only events before this time.'),
  cursor: cursorParameter(parseInt64),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
