import type { AuditEvent } from 'animal-store-client';
import { UntrustedText } from '../format/untrusted-text';
import { KeyName } from '../keys/key-name';
import { TextLink } from '../layout/text-link';
import { useOwnKey } from '../session/own-key';

/** Shows who acted: a key, with a link to it, a person at the terminal, or the service. */
export function ActorText({ actor: { type, id, name, prefix, lastFour } }: Pick<AuditEvent, 'actor'>) {
  const { data: ownKey } = useOwnKey();
  if (type === 'key' && id !== null) {
    const other =
      prefix === null || lastFour === null ? (
        'a deleted key'
      ) : (
        <KeyName apiKey={{ name: name ?? '', prefix, lastFour }} />
      );
    return (
      <TextLink to="/admin/keys/$id" params={{ id }} inherit>
        {id === ownKey?.id ? 'this console’s key' : other}
      </TextLink>
    );
  }
  if (type === 'service') {
    return 'the service';
  }
  const who = name ?? id ?? '';
  return <UntrustedText>{type === 'terminal' ? `${who} at the terminal` : `${type} ${who}`}</UntrustedText>;
}
