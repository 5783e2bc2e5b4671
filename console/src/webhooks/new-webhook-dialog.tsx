import type { WebhookWithSecret } from 'animal-store-client';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { toWebhook, webhookErrors, WebhookFields } from './webhook-fields';

interface NewWebhookDialogProps {
  opened: boolean;
  onSent: (created: WebhookWithSecret) => void;
  onClose: () => void;
}

/** The form for the URL of a new webhook and the events that it receives. */
export function NewWebhookDialog({ onSent, ...dialog }: NewWebhookDialogProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { url: '', events: '' },
    validate: webhookErrors,
    send: (values) => store.admin.webhooks.create(toWebhook(values)),
    onSent,
  });
  return (
    <FormDialog
      {...dialog}
      title="New webhook"
      action="Create webhook"
      failure="The webhook was not created"
      noResponse={
        'A webhook may have been created nevertheless. Look for it in the list, and rotate its secret ' +
        'there: nobody has seen it.'
      }
      submission={submission}
    >
      <WebhookFields form={form} />
    </FormDialog>
  );
}
