import { Alert, Anchor, Badge, Code, Group, Stack, Text, Title } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { Instant } from '../format/instant';
import { Method } from './method';
import type { Operation } from './operations';
import { Prose } from './prose';

/** What an operation does, how stable it is, and when it goes. */
export function OperationSummary({ operation }: { operation: Operation }) {
  const { method, path, summary, description, stability, deprecation, referenceUrl } = operation;
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Title order={2} fz="lg">
            {summary}
          </Title>
          <Badge variant="light" tt="capitalize">
            {stability}
          </Badge>
          {deprecation !== null && (
            <Badge variant="outline" color="gray" className="try-deprecated-badge">
              Deprecated
            </Badge>
          )}
        </Group>
        <Anchor href={referenceUrl} target="_blank" rel="noopener" size="sm">
          <Group gap={4} component="span">
            Open in reference <IconExternalLink size={14} aria-hidden />
          </Group>
        </Anchor>
      </Group>
      <Text className="try-path" size="sm">
        <Method method={method} /> {path}
      </Text>
      <Prose text={description} />
      {deprecation !== null && <DeprecationNotice {...deprecation} />}
    </Stack>
  );
}

function DeprecationNotice({ since, removedAt, replacement }: NonNullable<Operation['deprecation']>) {
  return (
    <Alert color="orange" classNames={{ title: 'try-notice-title' }} title="This operation is deprecated">
      <Text size="sm">
        {since !== null && (
          <>
            Since <Instant at={since} dateOnly />.{' '}
          </>
        )}
        {removedAt !== null && (
          <>
            Removed on <Instant at={removedAt} dateOnly />.{' '}
          </>
        )}
        {replacement !== null && (
          <>
            Use <Code>{replacement}</Code> instead.
          </>
        )}
      </Text>
    </Alert>
  );
}
