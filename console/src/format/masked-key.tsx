import { Text } from '@mantine/core';

/** What is shown of a key instead of the key itself. */
export interface KeyHints {
  prefix: string;
  lastFour: string;
}

/** Shows the first and the last characters of a key, which tell it apart from others with its name. */
export function MaskedKey({ apiKey: { prefix, lastFour } }: { apiKey: KeyHints }) {
  return (
    <Text component="span" inherit ff="monospace" style={{ whiteSpace: 'nowrap' }}>
      {prefix}…{lastFour}
    </Text>
  );
}
