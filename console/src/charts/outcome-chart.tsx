import { BarChart } from '@mantine/charts';
import { Group, Paper, Stack, Text } from '@mantine/core';
import { ReferenceArea } from 'recharts';
import { useState } from 'react';
import { compactText, numberText } from '../format/number';
import { ZONE_TEXT } from '../format/zone';
import { CHART_HEIGHT } from './chart-height';
import { placeLimitLine } from './limit-line';
import { OUTCOMES } from './outcomes';
import { type Bar, countRequests, PERIOD_MS } from './periods';

const SERIES = OUTCOMES.map(({ name, label, color }) => ({ name, label, color }));

export interface OutcomeChartProps {
  /** What the chart shows, for screen readers. */
  label: string;
  bars: Bar[];
  /** The limit of one period, drawn as a line. */
  limit?: number | null;
  /** Called with the first and the last bar after dragging over the chart. */
  onSelect?: (first: Bar, last: Bar) => void;
}

/** Bars of requests by outcome. It loads only when it is needed, because the chart library is large. */
export function OutcomeChart({ label, bars, limit = null, onSelect }: OutcomeChartProps) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const labels = new Map(bars.map(({ startMs, label: text }) => [startMs, text]));
  const line = limit === null ? null : placeLimitLine(limit, Math.max(...bars.map(countRequests)));
  const end = () => {
    if (drag !== null && onSelect !== undefined) {
      const first = bars[Math.min(drag.from, drag.to)];
      const last = bars[Math.max(drag.from, drag.to)];
      if (first !== undefined && last !== undefined && first !== last) {
        onSelect(first, last);
      }
    }
    setDrag(null);
  };
  return (
    <figure aria-label={label} style={{ margin: 0, position: 'relative' }}>
      {line !== null && line.y === null && (
        <Text size="xs" c="dimmed" pos="absolute" top={0} right={8}>
          {line.label}
        </Text>
      )}
      <Text size="xs" c="dimmed" pos="absolute" bottom={0} left={0} visibleFrom="md">
        {zoneText(bars)}
      </Text>
      <BarChart
        h={CHART_HEIGHT}
        data={bars}
        dataKey="startMs"
        type="stacked"
        series={SERIES}
        withLegend
        legendProps={{ verticalAlign: 'bottom', itemSorter: null }}
        gridAxis="x"
        tickLine="none"
        strokeDasharray="0"
        valueFormatter={compactText}
        xAxisProps={{
          minTickGap: 28,
          interval: 'equidistantPreserveStart',
          tickFormatter: (startMs: number) => labels.get(startMs) ?? '',
        }}
        yAxisProps={{ allowDecimals: false, width: 44 }}
        barProps={{ isAnimationActive: false, radius: 1 }}
        maxBarWidth={28}
        referenceLines={line === null || line.y === null ? [] : [toReferenceLine(line.y, line.label)]}
        tooltipAnimationDuration={0}
        tooltipProps={{
          content: ({ payload }) => <BarTooltip bar={payload[0]?.payload as Bar | undefined} />,
        }}
        barChartProps={{
          // Room for the label of a line at the top.
          margin: { top: 20 },
          ...(onSelect !== undefined && {
            onMouseDown: ({ activeTooltipIndex }) => setDrag(rangeAt(activeTooltipIndex)),
            onMouseMove: ({ activeTooltipIndex }) =>
              drag !== null && setDrag({ ...drag, to: rangeAt(activeTooltipIndex)?.to ?? drag.to }),
            onMouseUp: end,
            onMouseLeave: () => setDrag(null),
            style: { cursor: 'crosshair', userSelect: 'none' },
          }),
        }}
      >
        {drag !== null && (
          <ReferenceArea
            x1={bars[drag.from]?.startMs ?? 0}
            x2={bars[drag.to]?.startMs ?? 0}
            fill="var(--mantine-color-forest-5)"
            fillOpacity={0.18}
          />
        )}
      </BarChart>
    </figure>
  );
}

/** Says in which zone the times of the axis are; a day is one of UTC. */
function zoneText([first, second]: Bar[]): string {
  const isDays =
    first !== undefined && second !== undefined && second.startMs - first.startMs >= PERIOD_MS.day;
  return isDays ? 'Days in UTC' : ZONE_TEXT;
}

function toReferenceLine(y: number, label: string) {
  return { y, label, color: 'var(--console-muted)', ifOverflow: 'extendDomain' as const };
}

function rangeAt(index: unknown): { from: number; to: number } | null {
  const position = Number(index);
  return index === undefined || index === null || Number.isNaN(position)
    ? null
    : { from: position, to: position };
}

function BarTooltip({ bar }: { bar: Bar | undefined }) {
  if (bar === undefined) {
    return null;
  }
  return (
    <Paper p="sm" withBorder shadow="md" radius="md">
      <Text size="sm" fw={600} mb={4}>
        {bar.title}
      </Text>
      <Stack gap={2}>
        {OUTCOMES.filter(({ name }) => bar[name] > 0).map(({ name, label, color }) => (
          <Group key={name} gap="xs" justify="space-between" wrap="nowrap">
            <Group gap={6} wrap="nowrap">
              <span style={{ width: 8, height: 8, borderRadius: 2, background: color }} />
              <Text size="sm">{label}</Text>
            </Group>
            <Text size="sm" fw={600}>
              {numberText(bar[name])}
            </Text>
          </Group>
        ))}
        {countRequests(bar) === 0 && (
          <Text size="sm" c="dimmed">
            No requests
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
