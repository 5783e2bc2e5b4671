import { Badge, Group, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { KeyWithUsage } from 'animal-store-client';
import type { ReactNode } from 'react';
import { CopyButton } from '../feedback/copy-button';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { type KeyHints, MaskedKey } from '../format/masked-key';
import { RelativeInstant } from '../format/relative-instant';
import { UntrustedText } from '../format/untrusted-text';
import { Fact } from '../layout/fact';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { quotaKeysQuery } from './key-query';
import { restrictionText } from './restriction-text';
import { deniedText } from './scopes';

/** Shows what is stored of a key. */
export function KeyFactsPanel({ apiKey }: { apiKey: KeyWithUsage }) {
  const { note, plan, limitsSource, issuerId, predecessorId, successorId, revokedAt } = apiKey;
  const { externalId, suspendedAt } = apiKey;
  const denied = deniedText(apiKey);
  const { data: quotaKeys = [] } = useQuery(quotaKeysQuery(useStore(), apiKey.quotaId));
  const findKey = (id: string) => quotaKeys.find((each) => each.id === id);
  return (
    <Panel title="Key">
      <SimpleGrid cols={{ base: 1, lg: 2 }} verticalSpacing={{ base: 6, sm: 'sm' }} spacing="lg">
        <Fact label="ID">
          <Copied value={apiKey.id} what="ID" />
        </Fact>
        <Fact label="Last four">
          <Copied value={apiKey.lastFour} what="last four" />
        </Fact>
        {note !== null && (
          <Fact label="Note">
            <UntrustedText>{note}</UntrustedText>
          </Fact>
        )}
        <Fact label="Role">{apiKey.role === 'admin' ? 'Administrator' : 'Client'}</Fact>
        <Fact label="Scopes">{restrictionText(apiKey.scopes, 'All of its role')}</Fact>
        {denied !== '' && <Fact label="Not allowed (403)">{denied}</Fact>}
        <Fact label="Networks">{restrictionText(apiKey.allowedNetworks, 'Anywhere')}</Fact>
        <Fact label="Quota">
          <Copied value={apiKey.quotaId} what="quota ID" />
        </Fact>
        <Fact label="External ID">
          {externalId === null ? (
            'None'
          ) : (
            <TextLink to="/admin/keys" search={{ externalId }} inherit>
              <UntrustedText>{externalId}</UntrustedText>
            </TextLink>
          )}
        </Fact>
        <Fact label="Plan">
          <Group gap="xs">
            <Badge variant="light" tt="none" fw={550}>
              {plan}
            </Badge>
            {limitsSource === 'quota' && <Text size="sm">with own limits</Text>}
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
        {suspendedAt !== null && (
          <Fact label="Suspended">
            <Instant at={suspendedAt} />
          </Fact>
        )}
        {revokedAt !== null && (
          <Fact label="Revoked">
            <Instant at={revokedAt} />
          </Fact>
        )}
        {issuerId !== null && (
          <Fact label="Issued by">
            <OtherKey id={issuerId} hints={findKey(issuerId)}>
              The holder of another key
            </OtherKey>
          </Fact>
        )}
        {predecessorId !== null && (
          <Fact label="Replaces">
            <OtherKey id={predecessorId} hints={findKey(predecessorId)}>
              The key before it
            </OtherKey>
          </Fact>
        )}
        {successorId !== null && (
          <Fact label="Replaced by">
            <OtherKey id={successorId} hints={findKey(successorId)}>
              Its successor
            </OtherKey>
          </Fact>
        )}
      </SimpleGrid>
    </Panel>
  );
}

interface OtherKeyProps {
  id: string;
  /** Undefined until the keys of the quota are loaded. */
  hints: KeyHints | undefined;
  children: ReactNode;
}

function OtherKey({ id, hints, children }: OtherKeyProps) {
  return (
    <>
      <TextLink to="/admin/keys/$id" params={{ id }} inherit>
        {children}
      </TextLink>{' '}
      {hints !== undefined && <MaskedKey apiKey={hints} />}
    </>
  );
}

/** Shows a text with a button that copies it. */
function Copied({ value, what }: { value: string; what: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Text component="span" inherit ff="monospace">
        {value}
      </Text>
      <CopyButton value={value} label={`Copy ${what}`} what={what} isIcon />
    </Group>
  );
}
