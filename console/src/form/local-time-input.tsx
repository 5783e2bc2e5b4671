import { TextInput, type TextInputProps } from '@mantine/core';
import { ZONE } from '../format/zone';

/** The browser would also take years of six digits, which no date-time has. */
const LATEST = '9999-12-31T23:59';

/** A field for a date and time in the reader's zone. */
export function LocalTimeInput(props: TextInputProps) {
  return (
    <TextInput description={`In your time zone (${ZONE})`} {...props} type="datetime-local" max={LATEST} />
  );
}
