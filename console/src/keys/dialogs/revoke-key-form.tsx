import { Alert, Code, Text } from '@mantine/core';
import type { KeyWithUsage } from 'animal-store-client';
import type { ReactNode } from 'react';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { RelativeInstant } from '../../format/relative-instant';
import { UntrustedText } from '../../format/untrusted-text';
import { Fact } from '../../layout/fact';
import { serviceNowMs } from '../../session/service-clock';

interface RevokeKeyFormProps<Revoked> {
  apiKey: Pick<KeyWithUsage, 'name' | 'prefix' | 'lastFour' | 'lastUsedAt'>;
  /** Revokes the key. */
  revoke: () => Promise<Revoked>;
  onRevoked: (key: Revoked) => void;
  onClose: () => void;
  /** What else the reader should know. */
  children?: ReactNode;
}

/** Revokes a key, after it has shown which one and when it was last used. */
export function RevokeKeyForm<Revoked>(props: RevokeKeyFormProps<Revoked>) {
  const { apiKey, revoke, onRevoked, onClose, children } = props;
  const submission = useSubmission({ initialValues: {}, send: revoke, onSent: onRevoked });
  return (
    <DialogForm
      action="Revoke key"
      color="red.8"
      failure="The key was not revoked"
      submission={submission}
      onClose={onClose}
    >
      <div>
        <Fact label="Name">
          <UntrustedText>{apiKey.name}</UntrustedText>
        </Fact>
        <Fact label="Key">
          <Code>
            {apiKey.prefix}…{apiKey.lastFour}
          </Code>
        </Fact>
        <Fact label="Last used">
          <RelativeInstant at={apiKey.lastUsedAt} />
        </Fact>
      </div>
      {isToday(apiKey.lastUsedAt) && (
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
