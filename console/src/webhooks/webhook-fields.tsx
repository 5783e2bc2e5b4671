import { Checkbox, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { NewWebhook, Webhook } from 'animal-store-client';
import { ALL, type EventType, EVENTS } from './event-texts';

interface WebhookValues {
  url: string;
  /** Separated by commas. */
  events: string;
}

/** Asks for the URL of a webhook, and for the events that it receives. */
export function WebhookFields<Values extends WebhookValues>({ form }: { form: UseFormReturnType<Values> }) {
  const { onChange } = form.getInputProps('events') as { onChange: (value: string) => void };
  const chosen = form.values.events.split(',');
  return (
    <>
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
        value={chosen}
        error={form.errors['events']}
        onChange={(types) => onChange(types.filter(Boolean).join(','))}
      >
        <Stack gap="xs" my="xs">
          {Object.entries(EVENTS).map(([type, text]) => (
            <Checkbox key={type} value={type} label={text} disabled={type !== ALL && chosen.includes(ALL)} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  );
}

/** Returns what is wrong with the fields that the browser does not let out. */
export function webhookErrors({ events }: WebhookValues): { events?: string } {
  return events === '' ? { events: 'Choose at least one' } : {};
}

/** Returns the values of the fields for a webhook. */
export function toWebhookValues({ url, events }: Webhook) {
  return { url, events: events.join(',') };
}

/** Returns the fields of a request. */
export function toWebhook({ url, events }: WebhookValues): NewWebhook {
  return { url, events: events.split(',') as EventType[] };
}
