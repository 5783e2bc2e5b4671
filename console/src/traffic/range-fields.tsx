import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { trafficSearch, type TrafficRange, type TrafficSearch } from './traffic-range';

interface RangeFieldsProps {
  /** The range that is shown. */
  range: TrafficRange;
  onSearch: (search: TrafficSearch) => void;
}

/** Chooses a range by its ends instead of dragging over the chart. */
export function RangeFields({ range: { fromMs, untilMs }, onSearch }: RangeFieldsProps) {
  const form = useForm({ initialValues: { from: localText(fromMs), until: localText(untilMs) } });
  const show = ({ from, until }: { from: string; until: string }) => {
    const search = trafficSearch({ from: String(Date.parse(from)), until: String(Date.parse(until)) });
    if (search.from === undefined) {
      form.setFieldError('until', 'Choose an end after the start, at most 100 days later');
    } else {
      onSearch(search);
    }
  };
  return (
    <form onSubmit={form.onSubmit(show)} noValidate>
      <Group gap="sm" mt="md" align="flex-end">
        <TextInput {...form.getInputProps('from')} label="From" type="datetime-local" size="xs" />
        <TextInput {...form.getInputProps('until')} label="Until" type="datetime-local" size="xs" />
        <Button type="submit" size="xs" variant="default">
          Show
        </Button>
      </Group>
    </form>
  );
}

/** Returns a time as `YYYY-MM-DDTHH:MM` in the reader's zone. */
function localText(ms: number): string {
  const zoneMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - zoneMs).toISOString().slice(0, 16);
}
