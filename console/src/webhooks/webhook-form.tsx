import { Checkbox, Stack, TextInput } from '@mantine/core';
import type { NewWebhook } from 'animal-store-client';
import { DialogForm } from '../form/dialog-form';
import { useSubmission } from '../form/use-submission';
import { type EventType, EVENTS } from './event-texts';

interface WebhookFormProps<Result> {
  action: string;
  failure: string;
  noResponse?: string;
  initial: NewWebhook;
  send: (webhook: NewWebhook) => Promise<Result>;
  onSent: (result: Result) => void;
  onClose: () => void;
}

/** Asks for the URL of a webhook and the events that it receives. */
export function WebhookForm<Result>(props: WebhookFormProps<Result>) {
  const { initial, send, onSent, ...dialog } = props;
  const { form, ...submission } = useSubmission({
    initialValues: { url: initial.url, events: initial.events.join(',') },
    validate: (values) => (values.events === '' ? { events: 'Choose at least one' } : {}),
    send: (values) => send({ url: values.url, events: values.events.split(',') as EventType[] }),
    onSent,
  });
  return (
    <DialogForm {...dialog} submission={submission}>
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
    </DialogForm>
  );
}
