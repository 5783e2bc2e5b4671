import { Group, Progress, Stack, Text } from '@mantine/core';
import { Countdown } from '../feedback/countdown';
import { numberText } from '../format/number';
import { Panel } from '../layout/panel';

interface WindowGaugeProps {
  title: string;
  limit: number;
  remaining: number;
  /** When the window ends, in milliseconds since the Unix epoch, by the service's clock. */
  resetMs: number;
  /** While the quota is banned, a full window lets no request through. */
  isBanned: boolean;
  onReset: () => void;
}

const NEARLY_USED = 0.1;

/** Shows how much of one window remains, and when it is full again. */
export function WindowGauge({ title, limit, remaining, resetMs, isBanned, onReset }: WindowGaugeProps) {
  const share = remaining / limit;
  const color = share === 0 ? 'red.7' : share <= NEARLY_USED ? 'orange.7' : 'forest.6';
  return (
    <Panel title={title}>
      <Stack gap="sm">
        <Group gap={6} align="baseline">
          <Text fz={{ base: 26, sm: 34 }} lh={1.1} fw={650} style={{ overflowWrap: 'anywhere' }}>
            {numberText(remaining)}
          </Text>
          <Text c="dimmed">of {numberText(limit)} left</Text>
        </Group>
        <Progress
          value={share * 100}
          color={color}
          size="md"
          radius="xl"
          aria-label={`${title}: requests left`}
        />
        <Text size="sm" c="dimmed">
          {isBanned ? (
            'Not usable until the ban ends'
          ) : (
            <>
              Full again in <Countdown key={resetMs} untilMs={resetMs} onEnd={onReset} />
            </>
          )}
        </Text>
      </Stack>
    </Panel>
  );
}
