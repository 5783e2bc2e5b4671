import { Badge, Group, Stack, Text } from '@mantine/core';
import type { CurrentKey } from 'animal-store-client';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { MaskedKey } from '../format/masked-key';
import { restrictionText } from '../keys/restriction-text';
import { deniedText } from '../keys/scopes';
import { Fact } from '../layout/fact';
import { Panel } from '../layout/panel';
import { ReplaceLeakedKey } from './replace-leaked-key';
import { RotateOwnKey } from './rotate-own-key';

/** Shows the signed-in key: its plan, and when it ends. */
export function KeyPanel({ ownKey }: { ownKey: CurrentKey }) {
  const { name, plan, perMinute, perDay, limitsSource, createdAt, expiresAt } = ownKey;
  return (
    <Panel title="Key">
      <Stack gap="sm">
        <Fact label="Name">{name}</Fact>
        <Fact label="Key">
          <MaskedKey apiKey={ownKey} />
        </Fact>
        <Fact label="Plan">
          <Group gap="xs">
            <Badge variant="light" tt="none">
              {plan}
            </Badge>
            {limitsSource === 'quota' && <Text size="sm">with own limits</Text>}
          </Group>
        </Fact>
        <Fact label="Limits">{limitsText({ perMinute, perDay })}</Fact>
        <Restrictions ownKey={ownKey} />
        <Fact label="Issued">
          <Instant at={createdAt} />
        </Fact>
        <Fact label="Expires">
          <Instant at={expiresAt} />
        </Fact>
        <Group gap="sm">
          <RotateOwnKey ownKey={ownKey} />
          <ReplaceLeakedKey ownKey={ownKey} />
        </Group>
      </Stack>
    </Panel>
  );
}

/** Says what the key cannot do and why, and from where. */
function Restrictions({ ownKey }: { ownKey: CurrentKey }) {
  const { scopes, allowedNetworks } = ownKey;
  const denied = deniedText(ownKey);
  return (
    <>
      {scopes !== null && <Fact label="Scopes">{restrictionText(scopes, '')}</Fact>}
      {denied !== '' && <Fact label="Not allowed (403)">{denied}. An administrator can add scopes.</Fact>}
      {allowedNetworks !== null && (
        <Fact label="Networks">{restrictionText(allowedNetworks, '')}. Requests from elsewhere get 403.</Fact>
      )}
    </>
  );
}
