import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { OutcomeChartProps } from './outcome-chart';

const OutcomeChart = lazy(() => import('./outcome-chart'));

/** As high as the chart, its legend and its note, so that nothing moves once it is there. */
const HEIGHT = 264;

export function LazyOutcomeChart(props: OutcomeChartProps) {
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} radius="md" />}>
      <OutcomeChart {...props} />
    </Suspense>
  );
}
