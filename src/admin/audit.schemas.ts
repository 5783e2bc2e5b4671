import { z } from 'zod';
import { parseInt64 } from '../http/int64.js';
import { cursorParameter, limitParameter } from '../http/pagination.js';
import { dateTime, plainText } from '../http/text-schemas.js';

const facts = z.record(z.string().max(64), z.unknown());

export const AuditEntry = z
  .object({
    id: plainText('Identifier of the entry.', 19),
    at: dateTime('When it was done.'),
    actor: plainText(
      "Who did it: the id of an administrator's key; `terminal:NAME` for a person at the terminal; or `terminal`, the service itself.",
      255,
    ),
    action: plainText('What was done.', 64),
    subject: plainText('On what: `key:ID` or `plan:NAME`.', 128),
    before: facts
      .nullable()
      .meta({ description: 'The facts that changed; null where there was nothing before.' }),
    after: facts.meta({ description: 'The same facts after it.' }),
  })
  .meta({
    id: 'AuditEntry',
    description: 'What an administrator did.',
    examples: [
      {
        id: '12',
        at: '2026-11-21T08:30:00.000Z',
        actor: 'terminal:ann',
        action: 'plan.changed',
        subject: 'plan:free',
        before: { perMinute: 60, perDay: 1000 },
        after: { perMinute: 120, perDay: 3000 },
      },
    ],
  });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  /** The id before which the page begins. */
  cursor: cursorParameter(parseInt64),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
