import { Button, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from 'animal-store-client';
import { useState } from 'react';
import { DialogForm } from '../form/dialog-form';
import { useSubmission } from '../form/use-submission';
import { focusHeading } from '../layout/page';
import { useStore } from '../session/session';
import { useWebhookRefresh } from './webhook-query';
import { WebhookSecretDialog } from './webhook-secret-dialog';

const TITLES = {
  rotate: 'Rotate the secret?',
  delete: 'Delete this webhook?',
};
type Action = keyof typeof TITLES;

/** The buttons that rotate the secret of a webhook, and delete it. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const store = useStore();
  const navigate = useNavigate();
  const refresh = useWebhookRefresh();
  // The last action stays while its dialog fades.
  const [action, setAction] = useState<Action>('rotate');
  const [isOpen, dialog] = useDisclosure(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = dialog.close;
  const rotation = useSubmission({
    initialValues: {},
    send: () => store.admin.webhooks.rotateSecret(webhook.id),
    onSent: (rotated) => {
      close();
      setSecret(rotated.secret);
    },
  });
  const removal = useSubmission({
    initialValues: {},
    send: () => store.admin.webhooks.delete(webhook.id),
    onSent: () => void navigate({ to: '/admin/webhooks' }).then(() => refresh()),
  });
  const opens = (name: Action) => ({
    variant: 'default',
    onClick: () => {
      setAction(name);
      dialog.open();
    },
  });
  return (
    <>
      <Button size="sm" {...opens('rotate')}>
        Rotate secret
      </Button>
      <Button size="sm" {...opens('delete')} variant="light" color="red">
        Delete
      </Button>
      <Modal opened={isOpen} onClose={close} title={TITLES[action]}>
        {action === 'rotate' && (
          <DialogForm
            action="Rotate secret"
            failure="The secret was not rotated"
            noResponse="The secret may have been rotated all the same. Rotate it again to see one."
            submission={rotation}
            onClose={close}
          >
            <Text size="sm">
              A new secret is shown once. For 24 hours every event is signed with both, so that the receiver
              can change. If the old one leaked, rotate twice.
            </Text>
          </DialogForm>
        )}
        {action === 'delete' && (
          <DialogForm
            action="Delete webhook"
            color="red.8"
            failure="The webhook was not deleted"
            submission={removal}
            onClose={close}
          >
            <Text size="sm">
              It receives nothing more, and its deliveries are deleted. This cannot be undone.
            </Text>
          </DialogForm>
        )}
      </Modal>
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
