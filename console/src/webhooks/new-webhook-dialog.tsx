import { Checkbox, Stack, TextInput } from '@mantine/core';
import type { WebhookWithSecret } from 'animal-store-client';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { type EventType, EVENTS } from './event-texts';

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
    validate: (values) => (values.events === '' ? { events: 'Choose at least one' } : {}),
    send: ({ url, events }) => store.admin.webhooks.create({ url, events: events.split(',') as EventType[] }),
    onSent,
  });
  return (
    <FormDialog
      {...dialog}
      title="New webhook"
      action="Create webhook"
      failure="The webhook was not created"
      noResponse={
        'A webhook may have been created all the same. Look for it in the list, and rotate its secret ' +
        'there: nobody has seen it.'
      }
      submission={submission}
    >
      <TextInput
        {...form.getInputProps('url')}
        label="URL"
        description="Every event is sent there, signed, as a POST"
        placeholder="https://"
        type="url"
        autoComplete="off"
        withAsterisk
        data-autofocus
      />
      <Checkbox.Group
        label="Events"
        withAsterisk
        value={form.values.events.split(',')}
        error={form.errors['events']}
        onChange={(chosen) => form.setFieldValue('events', chosen.filter(Boolean).join(','))}
      >
        <Stack gap="xs" my="xs">
          {Object.entries(EVENTS).map(([type, text]) => (
            <Checkbox key={type} value={type} label={text} />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}
