import type { AuditEvent } from 'animal-store-client';
import { KeyLink } from '../keys/key-link';
import { TextLink } from '../layout/text-link';

const ENDING = 8;

/** Shows what an action changed, as a link to it if it has a page. */
export function Subject({ subject }: Pick<AuditEvent, 'subject'>) {
  const { type, id } = subject;
  switch (type) {
    case 'key':
      return <KeyLink id={id} apiKey={subject} />;
    case 'plan':
      return (
        <TextLink to="/admin/plans" search={{ plan: id }} inherit>
          plan {id}
        </TextLink>
      );
    case 'webhook':
      return (
        <TextLink to="/admin/webhooks/$id" params={{ id }} inherit className="one-line">
          webhook …{id.slice(-ENDING)}
        </TextLink>
      );
    case 'quota':
      return (
        <TextLink to="/admin/keys" search={{ quotaId: id }} inherit className="one-line">
          quota …{id.slice(-ENDING)}
        </TextLink>
      );
    default:
      return (
        <span className="one-line">
          {type} …{id.slice(-ENDING)}
        </span>
      );
  }
}
