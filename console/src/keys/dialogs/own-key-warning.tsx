import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { useOwnKey } from '../../session/own-key';

/** Warns that a change ends the reader's own session, if the key is the signed-in one. */
export function OwnKeyWarning({ id, children }: { id: string; children: ReactNode }) {
  const { data: ownKey } = useOwnKey();
  return ownKey?.id === id ? (
    <Alert color="orange" title="You are signed in with this key">
      {children}
    </Alert>
  ) : null;
}
