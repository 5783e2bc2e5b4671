import { Text, Tooltip } from '@mantine/core';

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const localDate = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

interface InstantProps {
  /** An ISO 8601 date-time, or null. */
  at: string | null | undefined;
  /** The text shown without a time. */
  none?: string;
  /** Leaves the time of day to the tooltip. */
  dateOnly?: boolean;
  /** Shows the seconds too, of what happens within a minute. */
  toSecond?: boolean;
  /** What is shown instead of the date and the time of day, which the tooltip then has too. */
  text?: string;
}

/** Shows a time in the reader's zone, and in UTC on hover and focus. */
export function Instant({ at, none = 'Never', dateOnly = false, toSecond = false, text }: InstantProps) {
  if (at === null || at === undefined) {
    return (
      <Text component="span" inherit c="dimmed">
        {none}
      </Text>
    );
  }
  const date = new Date(at);
  const timeFormat = toSecond ? exact : local;
  return (
    <Tooltip label={text === undefined ? utcText(date) : `${exact.format(date)} (${utcText(date)})`}>
      <time dateTime={at} tabIndex={0}>
        {text ?? (dateOnly ? localDate : timeFormat).format(date)}
      </time>
    </Tooltip>
  );
}

/** Returns a time in UTC to the second, such as "2026-11-23 08:30:00 UTC". */
function utcText(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
