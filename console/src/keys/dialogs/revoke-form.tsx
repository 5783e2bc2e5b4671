import { Text } from '@mantine/core';
import { useStore } from '../../session/session';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';
import { RevokeKeyForm } from './revoke-key-form';

/** Revokes a key as an administrator. */
export function RevokeForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  return (
    <RevokeKeyForm
      lastUsedAt={apiKey.lastUsedAt}
      revoke={() => store.admin.keys.revoke(apiKey.id)}
      onRevoked={onChanged}
      onClose={onClose}
    >
      {apiKey.successorId !== null && <Text size="sm">Its successor keeps working.</Text>}
      <OwnKeyWarning id={apiKey.id}>Revoking it signs you out at once.</OwnKeyWarning>
    </RevokeKeyForm>
  );
}
