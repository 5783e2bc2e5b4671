import { Center, Stack, Table, Text } from '@mantine/core';
import { Instant } from '../format/instant';
import { countText, numberText } from '../format/number';
import { CHART_HEIGHT } from './chart-height';
import { OUTCOMES } from './outcomes';
import { type Bar, countRequests } from './periods';

const LABEL = 'Requests by outcome';
const NOTE_HEIGHT = 32;

/** Shows the numbers of a chart, the newest period first, without the periods that have none. */
export function OutcomeTable({ bars }: { bars: Bar[] }) {
  const shown = bars.filter((bar) => countRequests(bar) > 0).toReversed();
  const left = bars.length - shown.length;
  if (shown.length === 0) {
    return (
      <Center h={CHART_HEIGHT}>
        <Text size="sm" c="dimmed">
          None of the {countText(bars.length, 'period')} has requests.
        </Text>
      </Center>
    );
  }
  return (
    <Stack gap={0} h={CHART_HEIGHT} justify="space-between">
      <Table.ScrollContainer
        minWidth={760}
        maxHeight={CHART_HEIGHT - NOTE_HEIGHT}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': LABEL } }}
      >
        <Table aria-label={LABEL} stickyHeader verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              {['Start', ...OUTCOMES.map(({ label }) => label), 'Total'].map((header, index) => (
                <Table.Th
                  key={header}
                  scope="col"
                  bg="var(--console-panel)"
                  fw={550}
                  c="dimmed"
                  fz="sm"
                  ta={index > 0 ? 'right' : 'left'}
                  style={{ whiteSpace: 'nowrap' }}
                >
                  {header}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((bar) => (
              <Row key={bar.startMs} bar={bar} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed">
        Newest first.{left > 0 && ` Left out: ${countText(left, 'period')} without requests.`}
      </Text>
    </Stack>
  );
}

function Row({ bar }: { bar: Bar }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} fz="sm" style={{ whiteSpace: 'nowrap' }}>
        <Instant at={new Date(bar.startMs).toISOString()} text={bar.title} />
      </Table.Th>
      {OUTCOMES.map(({ name }) => (
        <Table.Td key={name} fz="sm" ta="right" {...(bar[name] === 0 && { c: 'dimmed' })}>
          {numberText(bar[name])}
        </Table.Td>
      ))}
      <Table.Td fz="sm" ta="right" fw={600}>
        {numberText(countRequests(bar))}
      </Table.Td>
    </Table.Tr>
  );
}
