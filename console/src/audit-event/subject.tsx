import type { AuditEvent } from 'animal-store-client';
import { KeyLink } from '../keys/key-link';
import { TextLink } from '../layout/text-link';

const ENDING = 8;
const DELETED = { name: null, prefix: null, lastFour: null };

/** Shows what an action changed, `key:ID`, `quota:ID`, `plan:NAME` or `webhook:ID`, as a link to it. */
export function Subject({ entry: { subject, subjectKey } }: { entry: AuditEvent }) {
  const [, kind, id = ''] = /^(key|quota|plan|webhook):(.*)$/.exec(subject) ?? [];
  if (kind === 'key') {
    return <KeyLink id={id} apiKey={subjectKey ?? DELETED} />;
  }
  if (kind === 'quota') {
    return (
      <TextLink to="/admin/keys" search={{ quotaId: id }} inherit className="one-line">
        quota …{id.slice(-ENDING)}
      </TextLink>
    );
  }
  if (kind === 'plan') {
    return (
      <TextLink to="/admin/plans" search={{ plan: id }} inherit>
        plan {id}
      </TextLink>
    );
  }
  return kind === 'webhook' ? (
    <TextLink to="/admin/webhooks/$id" params={{ id }} inherit className="one-line">
      webhook …{id.slice(-ENDING)}
    </TextLink>
  ) : (
    subject
  );
}
