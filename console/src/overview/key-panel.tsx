import { Alert, Badge, Code, Group, Stack, Text } from '@mantine/core';
import type { OwnKey } from 'animal-store-client';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { Fact } from '../layout/fact';
import { Panel } from '../layout/panel';

/** Shows the signed-in key: its plan, and when it ends. */
export function KeyPanel({ ownKey }: { ownKey: OwnKey }) {
  const { name, plan, perMinute, perDay, ownLimits, prefix, lastFour, createdAt, expiresAt } = ownKey;
  return (
    <Panel title="Key">
      <Stack gap="sm">
        <Fact label="Name">{name}</Fact>
        <Fact label="Key">
          <Code>
            {prefix}…{lastFour}
          </Code>
        </Fact>
        <Fact label="Plan">
          <Group gap="xs">
            <Badge variant="light" tt="none">
              {plan}
            </Badge>
            {ownLimits && <Text size="sm">with limits of its own</Text>}
          </Group>
        </Fact>
        <Fact label="Limits">{limitsText({ perMinute, perDay })}</Fact>
        <Fact label="Issued">
          <Instant at={createdAt} />
        </Fact>
        <Fact label="Expires">
          <Instant at={expiresAt} />
        </Fact>
        <Rotation ownKey={ownKey} />
      </Stack>
    </Panel>
  );
}

function Rotation({ ownKey: { successor, expiresAt } }: { ownKey: OwnKey }) {
  if (successor === null) {
    return null;
  }
  return (
    <Alert color="orange" title="This key has been replaced">
      <Text size="sm">
        Its successor <Code>{`${successor.prefix}…${successor.lastFour}`}</Code> works already. This key works
        until <Instant at={expiresAt} />.
      </Text>
    </Alert>
  );
}
