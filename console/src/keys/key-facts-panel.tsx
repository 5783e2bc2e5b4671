import { Badge, Group, Stack, Text } from '@mantine/core';
import type { KeyWithUsage } from 'animal-store-client';
import type { ReactNode } from 'react';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { RelativeInstant } from '../format/relative-instant';
import { UntrustedText } from '../format/untrusted-text';
import { Fact } from '../layout/fact';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { deniedText } from './scopes';

/** Shows what is stored of a key. */
export function KeyFactsPanel({ apiKey }: { apiKey: KeyWithUsage }) {
  const { note, plan, ownLimits, issuedBy, predecessorId, successorId, revokedAt } = apiKey;
  const denied = deniedText(apiKey);
  return (
    <Panel title="Key" h="100%">
      <Stack gap="sm">
        {note !== null && (
          <Fact label="Note">
            <UntrustedText>{note}</UntrustedText>
          </Fact>
        )}
        <Fact label="Role">{apiKey.role === 'admin' ? 'Administrator' : 'Client'}</Fact>
        <Fact label="Permissions">{apiKey.scopes?.join(', ') ?? 'All of its role'}</Fact>
        {denied !== '' && <Fact label="Not allowed (403)">{denied}</Fact>}
        <Fact label="Networks">{apiKey.allowedNetworks?.join(', ') ?? 'Anywhere'}</Fact>
        <Fact label="Plan">
          <Group gap="xs">
            <Badge variant="light" tt="none" fw={550}>
              {plan}
            </Badge>
            {ownLimits && <Text size="sm">with own limits</Text>}
          </Group>
        </Fact>
        <Fact label="Limits">{limitsText(apiKey)}</Fact>
        <Fact label="Last used">
          <RelativeInstant at={apiKey.lastUsedAt} />
        </Fact>
        <Fact label="Issued">
          <Instant at={apiKey.createdAt} />
        </Fact>
        <Fact label="Expires">
          <Instant at={apiKey.expiresAt} />
        </Fact>
        {revokedAt !== null && (
          <Fact label="Revoked">
            <Instant at={revokedAt} />
          </Fact>
        )}
        {issuedBy !== null && (
          <Fact label="Issued by">
            <KeyLink id={issuedBy}>The holder of another key</KeyLink>
          </Fact>
        )}
        {predecessorId !== null && (
          <Fact label="Replaces">
            <KeyLink id={predecessorId}>The key before it</KeyLink>
          </Fact>
        )}
        {successorId !== null && (
          <Fact label="Replaced by">
            <KeyLink id={successorId}>Its successor</KeyLink>
          </Fact>
        )}
      </Stack>
    </Panel>
  );
}

function KeyLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <TextLink to="/admin/keys/$id" params={{ id }} inherit>
      {children}
    </TextLink>
  );
}
