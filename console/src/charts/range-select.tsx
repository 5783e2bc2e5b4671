import { ActionIcon, Group, SegmentedControl, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Period } from './periods';
import { RANGES } from './ranges';

const CHOICES = Object.values(RANGES).map(({ period, label }) => ({ value: period, label }));

interface RangeSelectProps {
  period: Period;
  onChange: (period: Period) => void;
  /** What is loaded for the range. */
  query: UseQueryResult;
}

/** Chooses the range of a chart, and loads it again. */
export function RangeSelect({ period, onChange, query }: RangeSelectProps) {
  return (
    <Group gap="xs">
      <SegmentedControl size="xs" aria-label="Range" data={CHOICES} value={period} onChange={onChange} />
      <Tooltip label="Load again; this counts as a request">
        <ActionIcon
          variant="default"
          aria-label="Load again"
          aria-busy={query.isFetching}
          onClick={() => void (query.isFetching || query.refetch())}
        >
          <IconRefresh size={16} aria-hidden opacity={query.isFetching ? 0.4 : 1} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
