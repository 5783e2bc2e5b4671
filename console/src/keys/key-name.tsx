import { Text } from '@mantine/core';
import { type KeyHints, MaskedKey } from '../format/masked-key';
import { UntrustedText } from '../format/untrusted-text';

/** Names a key in a text or a dialog. */
export function KeyName({ apiKey }: { apiKey: KeyHints & { name: string } }) {
  return (
    <Text component="span" inherit>
      <UntrustedText fw={600}>{apiKey.name}</UntrustedText> <MaskedKey apiKey={apiKey} />
    </Text>
  );
}
