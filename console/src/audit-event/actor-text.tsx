import type { AuditEvent } from 'animal-store-client';
import { UntrustedText } from '../format/untrusted-text';
import { KeyName } from '../keys/key-name';
import { TextLink } from '../layout/text-link';
import { useOwnKey } from '../session/own-key';

/** Shows who acted: a key, with a link to it, or a person at the terminal. */
export function ActorText({ entry: { actor, actorKey } }: { entry: AuditEvent }) {
  const { data: ownKey } = useOwnKey();
  if (actor === 'terminal' || actor.startsWith('terminal:')) {
    const person = actor.slice('terminal:'.length);
    return person === '' ? 'the service' : <UntrustedText>{`${person} at the terminal`}</UntrustedText>;
  }
  const other = actorKey === null ? 'a deleted key' : <KeyName apiKey={actorKey} />;
  return (
    <TextLink to="/admin/keys/$id" params={{ id: actor }} inherit>
      {actor === ownKey?.id ? 'this console’s key' : other}
    </TextLink>
  );
}
