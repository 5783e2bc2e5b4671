import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { RelativeInstant } from '../../format/relative-instant';
import { Fact } from '../../layout/fact';
import { serviceNowMs } from '../../session/service-clock';

interface RevokeKeyFormProps<Revoked> {
  /** When the key was last used, as an ISO 8601 date-time; null if it was not. */
  lastUsedAt: string | null;
  /** Revokes the key. */
  revoke: () => Promise<Revoked>;
  onRevoked: (key: Revoked) => void;
  onClose: () => void;
  /** What else the reader should know. */
  children?: ReactNode;
}

/** Revokes the key that its dialog names, after it has shown when that was last used. */
export function RevokeKeyForm<Revoked>(props: RevokeKeyFormProps<Revoked>) {
  const { lastUsedAt, revoke, onRevoked, onClose, children } = props;
  const submission = useSubmission({ initialValues: {}, send: revoke, onSent: onRevoked });
  return (
    <DialogForm
      action="Revoke key"
      color="red.8"
      failure="The key was not revoked"
      submission={submission}
      onClose={onClose}
    >
      <Fact label="Last used">
        <RelativeInstant at={lastUsedAt} />
      </Fact>
      {isToday(lastUsedAt) && (
        <Alert color="orange" title="Used today">
          A program may still need this key.
        </Alert>
      )}
      <Text size="sm">Requests with this key get 401 within a second. This cannot be undone.</Text>
      {children}
    </DialogForm>
  );
}

/** Returns whether a time is in the reader's day. */
function isToday(at: string | null): boolean {
  return at !== null && new Date(at).toDateString() === new Date(serviceNowMs()).toDateString();
}
