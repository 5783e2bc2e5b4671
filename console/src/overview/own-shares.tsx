import { Badge, Group, Stack, Text } from '@mantine/core';
import type { CurrentKey, Usage } from 'animal-store-client';
import type { Range } from '../charts/ranges';
import { operationShare, type Share, ShareTable } from '../charts/share-table';
import { MaskedKey } from '../format/masked-key';
import { countText } from '../format/number';

interface OwnSharesProps {
  /** The usage of each period, by operation or by key. */
  entries: Usage[];
  by: 'operation' | 'key';
  range: Range;
  /** The signed-in key; undefined until it is loaded. */
  ownKey: CurrentKey | undefined;
}

/** Shows the requests of a range for each operation, or of each key of the quota. */
export function OwnShares({ entries, by, range, ownKey }: OwnSharesProps) {
  const sums = sumGroups(entries);
  const requests = sums.reduce((total, each) => total + each.requests, 0);
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {countText(requests, 'request')} in {range.text}
      </Text>
      <ShareTable
        header={by === 'key' ? 'Key' : 'Operation'}
        shares={sums.map((sum) => toShare(sum, ownKey))}
        empty="No requests were sent in this range."
      />
    </>
  );
}

/** Returns the sums of the entries for each operation or key, the one with most requests first. */
function sumGroups(entries: Usage[]): Usage[] {
  const sums = new Map<string, Usage>();
  for (const entry of entries) {
    const id = entry.keyId ?? `${entry.operation} ${entry.deprecated}`;
    const { requests = 0, denied = 0 } = sums.get(id) ?? {};
    sums.set(id, {
      ...entry,
      requests: requests + entry.requests,
      denied: denied + entry.denied,
    });
  }
  return [...sums.values()].toSorted((one, other) => other.requests - one.requests);
}

function toShare(sum: Usage, ownKey: CurrentKey | undefined): Share {
  const { keyId, keyName = '', lastFour = '', operation = '', deprecated = false } = sum;
  return keyId === undefined
    ? operationShare(operation, deprecated, sum)
    : {
        ...sum,
        id: keyId,
        name: `${keyName} …${lastFour}`,
        label: (
          <Stack gap={2} maw={220} miw={120}>
            <Text size="sm" fw={550} truncate title={keyName}>
              <bdi>{keyName}</bdi>
            </Text>
            <Group gap="xs" wrap="nowrap">
              <Text size="xs" c="dimmed">
                {/* Every key of the quota has the same prefix. */}
                <MaskedKey apiKey={{ prefix: ownKey?.prefix ?? '', lastFour }} />
              </Text>
              {keyId === ownKey?.id && (
                <Badge size="xs" variant="light" miw="max-content">
                  This key
                </Badge>
              )}
            </Group>
          </Stack>
        ),
      };
}
