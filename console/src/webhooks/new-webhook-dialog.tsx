import { TextInput } from '@mantine/core';
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

/** The form for the URL of a new webhook, its events, and the quota that it is limited to. */
export function NewWebhookDialog({ onSent, ...dialog }: NewWebhookDialogProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { url: '', events: '', quotaId: '' },
    validate: webhookErrors,
    send: (values) => {
      const quotaId = values.quotaId.trim();
      return store.admin.webhooks.create({ ...toWebhook(values), ...(quotaId !== '' && { quotaId }) });
    },
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
      <TextInput
        {...form.getInputProps('quotaId')}
        label="Only events of a quota"
        description="Its ID, from the page of one of its keys. Leave empty for every quota."
        placeholder="Every quota"
        autoComplete="off"
        spellCheck={false}
      />
    </FormDialog>
  );
}
