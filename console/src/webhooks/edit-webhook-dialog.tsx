import { Text } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import type { Webhook } from 'animal-store-client';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { toWebhook, toWebhookValues, webhookErrors, WebhookFields } from './webhook-fields';
import { useWebhookRefresh } from './webhook-query';

interface EditWebhookDialogProps {
  webhook: Webhook;
  opened: boolean;
  onClose: () => void;
}

/** The form for another URL of a webhook, or other events. */
export function EditWebhookDialog({ webhook, ...dialog }: EditWebhookDialogProps) {
  const store = useStore();
  const refresh = useWebhookRefresh();
  const current = toWebhookValues(webhook);
  const { form, ...submission } = useSubmission({
    initialValues: current,
    validate: webhookErrors,
    send: (given) => {
      const { url, events } = toWebhook(given);
      // Sends only changed fields: another administrator may have changed the others meanwhile.
      return store.admin.webhooks.update(webhook.id, {
        ...(given.url !== current.url && { url }),
        ...(given.events !== current.events && { events }),
      });
    },
    onSent: () => {
      dialog.onClose();
      refresh();
    },
  });
  useDidUpdate(() => {
    form.setInitialValues(current);
    form.reset();
  }, [current.url, current.events]);
  return (
    <FormDialog
      {...dialog}
      title="Edit webhook"
      action="Save"
      failure="The webhook was not changed"
      submission={submission}
    >
      <WebhookFields form={form} />
      <Text size="sm">Pending deliveries are sent to the new URL. The secret stays the same.</Text>
    </FormDialog>
  );
}
