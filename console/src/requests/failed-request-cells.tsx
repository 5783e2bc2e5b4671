import { Box, Group, Stack, Text } from '@mantine/core';
import type { FailedRequest, AdminFailedRequest } from 'animal-store-client';
import { MaskedKey } from '../format/masked-key';
import { numberText } from '../format/number';
import { StatusBadge } from '../format/status-badge';
import { UntrustedText } from '../format/untrusted-text';
import { KeyLink } from '../keys/key-link';

/** Shows the status and the code of a response. */
export function ResponseStatus({ status, code }: Pick<FailedRequest, 'status' | 'code'>) {
  return (
    <Group gap={6} component="span" display="inline-flex">
      <StatusBadge status={String(status)} color={colorOf(status)} />
      <Text component="span" inherit ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {code}
      </Text>
    </Group>
  );
}

/** The response: its status, its code, and the beginning of its message. */
export function Response({ request }: { request: FailedRequest }) {
  return (
    <Box maw={280} className="code-cell">
      <ResponseStatus status={request.status} code={request.code} />
      <Text size="xs" c="dimmed" lineClamp={3} title={request.message}>
        <UntrustedText>{request.message}</UntrustedText>
      </Text>
    </Box>
  );
}

interface RequestKeyProps {
  request: FailedRequest | AdminFailedRequest;
  /** Whether the reader may open the page of the key. */
  isOfAll: boolean;
}

/** The key of a request, if that is known; for administrators also the external id of its quota. */
export function RequestKey({ request, isOfAll }: RequestKeyProps) {
  const { keyId, keyName, prefix, lastFour } = request;
  if (keyId === null) {
    return (
      <Text component="span" inherit c="dimmed">
        No valid key
      </Text>
    );
  }
  if (isOfAll) {
    return (
      <Box maw={160}>
        <KeyLink id={keyId} apiKey={{ name: keyName, prefix, lastFour }} />
        {'externalId' in request && request.externalId !== null && (
          <Text size="xs" truncate title={`External ID ${request.externalId}`}>
            <bdi>{request.externalId}</bdi>
          </Text>
        )}
      </Box>
    );
  }
  return (
    <Stack gap={0} maw={180}>
      <Text size="sm" truncate>
        <bdi>{keyName ?? 'A deleted key'}</bdi>
      </Text>
      {prefix !== null && lastFour !== null && (
        <Text size="xs" c="dimmed">
          <MaskedKey apiKey={{ prefix, lastFour }} />
        </Text>
      )}
    </Stack>
  );
}

/** Returns how long a request took, such as "2.4 ms". */
export function tookText({ durationMs }: Pick<FailedRequest, 'durationMs'>): string {
  return `${numberText(durationMs)} ms`;
}

function colorOf(status: number): string {
  if (status >= 500) {
    return 'red';
  }
  return status === 429 ? 'violet' : 'orange';
}
