import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { CHART_HEIGHT } from './chart-height';
import type { OutcomeChartProps } from './outcome-chart';

const OutcomeChart = lazy(() => import('./outcome-chart'));

export function LazyOutcomeChart(props: OutcomeChartProps) {
  return (
    <Suspense fallback={<Skeleton height={CHART_HEIGHT} radius="md" />}>
      <OutcomeChart {...props} />
    </Suspense>
  );
}
