import { z } from 'zod';
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
import { ACTIONS, terminalActor } from './audit.js';

const ACTOR_MAX_LENGTH = terminalActor('').length + KEY_NAME_MAX_LENGTH;

/** Returns the schema of the key that an event names; `which` says in what part. */
const namedKey = (which: string) =>
  z
    .object({ name: plainText('Name of the key.', KEY_NAME_MAX_LENGTH), ...keyHints })
    .nullable()
    .meta({ description: `The key that ${which}, as it is now; null if that is none, or was deleted.` });

const fields = z.record(z.string().max(64), z.unknown());

export const AuditEvent = z
  .object({
    id: plainText('Identifier of the event.', 19),
    at: dateTime('The time of the action.'),
    actor: plainText(
      "Who acted: the id of an administrator's key; `terminal:NAME` for a person at the terminal; " +
        'or `terminal` for the service itself.',
      ACTOR_MAX_LENGTH,
    ),
    actorKey: namedKey('acted'),
    action: plainText('The action.', 64),
    subject: plainText('What the action changed: `key:ID`, `quota:ID`, `plan:NAME` or `webhook:ID`.', 128),
    subjectKey: namedKey('the action changed'),
    before: fields
      .nullable()
      .meta({ description: 'The changed fields before the action; null if the action created the subject.' }),
    after: fields.meta({ description: 'The same fields after the action.' }),
  })
  .meta({
    id: 'AuditEvent',
    description: 'An action of an administrator.',
    examples: [
      {
        id: '12',
        at: '2026-11-21T08:30:00.000Z',
        actor: 'terminal:ann',
        actorKey: null,
        action: 'plan.updated',
        subject: 'plan:free',
        subjectKey: null,
        before: { perMinute: 60, perDay: 1000 },
        after: { perMinute: 120, perDay: 3000 },
      },
    ],
  });
export type AuditEvent = z.infer<typeof AuditEvent>;

export const auditActor = lineParameter('Only events of exactly this actor.', ACTOR_MAX_LENGTH);

export const AuditQuery = z.object({
  limit: limitParameter('Maximum number of events returned.'),
  actor: auditActor.optional(),
  action: enumParameter(ACTIONS, 'Only events of this action.'),
  key: uuidParameter('Only events on the key with this identifier.'),
  since: instantParameter('Only events of this time or later.'),
  until: instantParameter('Only events before this time.'),
  /** The page begins before this id. */
  cursor: cursorParameter(parseInt64),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
