import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from 'animal-store-client';
import { useState } from 'react';
import { FormDialog } from '../form/form-dialog';
import { ScopedButton } from '../form/scoped-button';
import { useSubmission } from '../form/use-submission';
import { focusHeading } from '../layout/page';
import { useStore } from '../session/session';
import { EditWebhookDialog } from './edit-webhook-dialog';
import { WebhookButton } from './webhook-button';
import { useWebhookRefresh } from './webhook-query';
import { WebhookSecretDialog } from './webhook-secret-dialog';

/** The buttons that change a webhook, pause it, rotate its secret, and delete it. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const store = useStore();
  const navigate = useNavigate();
  const refresh = useWebhookRefresh();
  const [isEditing, editing] = useDisclosure(false);
  const [isRotating, rotating] = useDisclosure(false);
  const [isDeleting, deleting] = useDisclosure(false);
  const [secret, setSecret] = useState<string | null>(null);
  const rotation = useSubmission({
    initialValues: {},
    send: () => store.admin.webhooks.rotateSecret(webhook.id),
    onSent: (rotated) => {
      rotating.close();
      setSecret(rotated.secret);
    },
  });
  const deletion = useSubmission({
    initialValues: {},
    send: () => store.admin.webhooks.delete(webhook.id),
    onSent: () => void navigate({ to: '/admin/webhooks' }).then(() => refresh()),
  });
  return (
    <>
      <ScopedButton scope="admin:write" size="sm" variant="default" onClick={editing.open}>
        Edit
      </ScopedButton>
      <WebhookButton
        size="sm"
        send={() => store.admin.webhooks.update(webhook.id, { paused: !webhook.paused })}
        failure={`The webhook was not ${webhook.paused ? 'resumed' : 'paused'}`}
      >
        {webhook.paused ? 'Resume' : 'Pause'}
      </WebhookButton>
      <ScopedButton scope="admin:write" size="sm" variant="default" onClick={rotating.open}>
        Rotate secret
      </ScopedButton>
      <ScopedButton scope="admin:write" size="sm" variant="light" color="red" onClick={deleting.open}>
        Delete
      </ScopedButton>
      <EditWebhookDialog webhook={webhook} opened={isEditing} onClose={editing.close} />
      <FormDialog
        opened={isRotating}
        title="Rotate the secret?"
        action="Rotate secret"
        failure="The secret was not rotated"
        noResponse="The secret may have been rotated nevertheless. Rotate it again to see one."
        submission={rotation}
        onClose={rotating.close}
      >
        <Text size="sm">
          A new secret is shown once. For 24 hours every event is signed with both, so that the receiver can
          change. If the old one leaked, rotate twice.
        </Text>
      </FormDialog>
      <FormDialog
        opened={isDeleting}
        title="Delete this webhook?"
        action="Delete webhook"
        color="red.8"
        failure="The webhook was not deleted"
        submission={deletion}
        onClose={deleting.close}
      >
        <Text size="sm">
          No more events are sent to it, and its deliveries are deleted. This cannot be undone.
        </Text>
      </FormDialog>
      <WebhookSecretDialog
        secret={secret}
        onClose={() => {
          setSecret(null);
          focusHeading();
          refresh();
        }}
      />
    </>
  );
}
