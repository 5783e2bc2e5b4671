import { Center, Stack, Table, Text } from '@mantine/core';
import { Instant } from '../format/instant';
import { countText, numberText } from '../format/number';
import { CardCell, CardTable } from '../table/card-table';
import { CHART_HEIGHT } from './chart-height';
import { OUTCOMES } from './outcomes';
import { type Bar, countRequests } from './periods';

const LABEL = 'Requests by outcome';
const NOTE_HEIGHT = 32;
const HEADERS = ['Start', ...OUTCOMES.map(({ label }) => label), 'Total'].map((label, index) => ({
  id: label,
  label,
  align: index > 0 ? ('right' as const) : ('left' as const),
}));

/** Shows the numbers of a chart, the newest period first, without periods that have no requests. */
export function OutcomeTable({ bars }: { bars: Bar[] }) {
  const shown = bars.filter((bar) => countRequests(bar) > 0).toReversed();
  const left = bars.length - shown.length;
  if (shown.length === 0) {
    return (
      <Center h={CHART_HEIGHT}>
        <Text size="sm" c="dimmed">
          There were no requests in any of the {countText(bars.length, 'period')}.
        </Text>
      </Center>
    );
  }
  return (
    <Stack gap={0} h={CHART_HEIGHT} justify="space-between">
      <CardTable
        label={LABEL}
        headers={HEADERS}
        minWidth={760}
        maxHeight={CHART_HEIGHT - NOTE_HEIGHT}
        stickyHeader
        verticalSpacing={6}
      >
        {shown.map((bar) => (
          <Row key={bar.startMs} bar={bar} />
        ))}
      </CardTable>
      <Text size="xs" c="dimmed">
        Newest first.{left > 0 && ` Left out: ${countText(left, 'period')} without requests.`}
      </Text>
    </Stack>
  );
}

function Row({ bar }: { bar: Bar }) {
  return (
    <Table.Tr role="row">
      <Table.Th role="rowheader" scope="row" fw={400} fz="sm" className="one-line">
        <Instant at={new Date(bar.startMs).toISOString()} text={bar.title} />
      </Table.Th>
      {OUTCOMES.map(({ name, label }) => (
        <CardCell key={name} label={label} ta="right" {...(bar[name] === 0 && { c: 'dimmed' })}>
          {numberText(bar[name])}
        </CardCell>
      ))}
      <CardCell label="Total" ta="right" fw={600}>
        {numberText(countRequests(bar))}
      </CardCell>
    </Table.Tr>
  );
}
