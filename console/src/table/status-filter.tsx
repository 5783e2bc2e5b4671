import { SegmentedControl } from '@mantine/core';

interface StatusFilterProps<Status extends string> {
  statuses: readonly Status[];
  value: Status | undefined;
  onChange: (status: Status | undefined) => unknown;
}

const ALL = 'all';

/** Chooses one status of a list, or all. */
export function StatusFilter<Status extends string>(props: StatusFilterProps<Status>) {
  const { statuses, value, onChange } = props;
  return (
    <SegmentedControl
      aria-label="Status"
      size="sm"
      value={value ?? ALL}
      data={[ALL, ...statuses].map((each) => ({ value: each, label: capitalized(each) }))}
      onChange={(chosen) => onChange(statuses.find((each) => each === chosen))}
    />
  );
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
