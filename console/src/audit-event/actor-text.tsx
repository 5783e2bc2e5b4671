import { UntrustedText } from '../format/untrusted-text';
import { TextLink } from '../layout/text-link';
import { useOwnKey } from '../session/own-key';

/** Shows who acted: a key, with a link to it, or a person at the terminal. */
export function ActorText({ actor }: { actor: string }) {
  const { data: ownKey } = useOwnKey();
  if (actor === 'terminal' || actor.startsWith('terminal:')) {
    const person = actor.slice('terminal:'.length);
    return person === '' ? 'the service' : <UntrustedText>{`${person} at the terminal`}</UntrustedText>;
  }
  return (
    <TextLink to="/admin/keys/$id" params={{ id: actor }} inherit>
      {actor === ownKey?.id ? 'this console’s key' : `key …${actor.slice(-8)}`}
    </TextLink>
  );
}
