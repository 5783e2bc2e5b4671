import { Box, Group, SegmentedControl } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { OutcomeChart } from './outcome-chart';
import type { OutcomeChartProps } from './outcome-chart';
import { OutcomeTable } from './outcome-table';

const VIEWS = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
];

interface OutcomeViewProps extends OutcomeChartProps {
  /** Shown above, beside the choice of the view. */
  summary: ReactNode;
}

/** Shows requests by outcome as a chart, or as a table with the same numbers and of the same height. */
export function OutcomeView({ summary, ...chart }: OutcomeViewProps) {
  const [view, setView] = useState('chart');
  return (
    <>
      <Group justify="space-between" gap="sm" mb="md">
        <Box flex="1 1 13rem">{summary}</Box>
        <SegmentedControl size="xs" aria-label="Show as" data={VIEWS} value={view} onChange={setView} />
      </Group>
      {view === 'chart' ? <OutcomeChart {...chart} /> : <OutcomeTable bars={chart.bars} />}
    </>
  );
}
