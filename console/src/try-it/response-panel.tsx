import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { CopyButton } from '../feedback/copy-button';
import { numberText } from '../format/number';
import { Panel } from '../layout/panel';
import { HeaderTable } from './header-table';
import { JsonView } from './json-view';
import type { Operation } from './operations';
import type { ReceivedResponse } from './send';

/** An API key in full, which only the responses that issue one contain. */
const API_KEY = /"ask_(live|test)_[0-9A-Za-z]{38}"/;

/** Shows a response: its status in words, its body, and every header with its meaning. */
export function ResponsePanel({ operation, response }: { operation: Operation; response: ReceivedResponse }) {
  const { status, statusText, durationMs, headers, text } = response;
  const start = useRef<HTMLDivElement>(null);
  // The form may fill the screen, so that the response would arrive unseen.
  useEffect(() => {
    start.current?.scrollIntoView({ block: 'nearest' });
  }, [response]);
  return (
    <Panel
      title="Response"
      actions={
        text === '' ? undefined : (
          <CopyButton value={text} label="Copy body" what="body" size="xs" variant="default" />
        )
      }
    >
      <Stack gap="lg">
        <div role="status" ref={start} className="try-response">
          <Group gap="sm" align="baseline">
            <Text className="try-status" data-class={Math.floor(status / 100)}>
              {status} {statusText}
            </Text>
            <Text size="sm" c="dimmed">
              {numberText(Math.round(durationMs))} ms
            </Text>
          </Group>
          <Text size="sm">{operation.statuses[status] ?? CLASSES[Math.floor(status / 100)]}</Text>
        </div>
        {API_KEY.test(text) && (
          <Alert
            color="orange"
            classNames={{ title: 'try-notice-title' }}
            icon={<IconKey aria-hidden />}
            title="This response contains a new API key"
          >
            Copy it now. The service does not show it again, and this page forgets it when you leave.
          </Alert>
        )}
        {text === '' ? (
          <Text size="sm" c="dimmed">
            The response has no body.
          </Text>
        ) : (
          <JsonView text={text} />
        )}
        <Stack gap="xs">
          <Title order={3}>Headers</Title>
          <HeaderTable headers={headers} documented={operation.headers} />
        </Stack>
      </Stack>
    </Panel>
  );
}

/** Describes statuses that the document of the operation does not have. */
const CLASSES: Record<number, string> = {
  2: 'The request succeeded.',
  3: 'Nothing was sent, because the resource is elsewhere or unchanged.',
  4: 'The request was rejected.',
  5: 'The service failed.',
};
