import { NativeSelect, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { serviceNowMs } from '../session/service-clock';
import { LocalTimeInput } from './local-time-input';

const DAY_MS = 86_400_000;
const AFTER_DAYS = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** The values of the fields; `expires` is a number of days, `at` for the time in `expiresAt`, or empty. */
interface ExpiryValues {
  expires: string;
  expiresAt: string;
}

interface ExpiryFieldsProps<Values extends ExpiryValues> {
  form: UseFormReturnType<Values>;
  label: string;
  /** What an empty choice means, such as "Never". */
  none: string;
  /** The last time that can be chosen, as an ISO 8601 date-time; null for any time. */
  latest?: string | null;
}

/** Asks when a key expires: after some days, or at a time in the reader's zone. */
export function ExpiryFields<Values extends ExpiryValues>(props: ExpiryFieldsProps<Values>) {
  const { form, label, none, latest = null } = props;
  const latestMs = latest === null ? Infinity : Date.parse(latest);
  return (
    <Stack gap="xs">
      <NativeSelect
        {...form.getInputProps('expires')}
        label={label}
        data={[
          { value: '', label: none },
          ...AFTER_DAYS.filter(({ value }) => serviceNowMs() + Number(value) * DAY_MS <= latestMs),
          { value: 'at', label: 'At a time…' },
        ]}
      />
      {form.values.expires === 'at' && (
        <LocalTimeInput {...form.getInputProps('expiresAt')} label="Time of expiry" />
      )}
    </Stack>
  );
}

/** Returns what is wrong with the fields, if anything, that the service could not say. */
export function expiryError({ expires, expiresAt }: ExpiryValues): { expiresAt?: string } {
  return expires === 'at' && expiresAt === '' ? { expiresAt: 'Complete the date and time' } : {};
}

/** Returns the field of a request; no field for an empty choice. */
export function toExpiry({ expires, expiresAt }: ExpiryValues): { expiresAt?: string } {
  if (expires === '') {
    return {};
  }
  const at = expires === 'at' ? new Date(expiresAt) : new Date(serviceNowMs() + Number(expires) * DAY_MS);
  return { expiresAt: at.toISOString() };
}
