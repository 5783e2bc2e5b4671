import { Group, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '../feedback/copy-button';
import { Panel } from '../layout/panel';
import { curlCommand, KEY_VARIABLE } from './curl';
import type { PreparedRequest } from './request';

/** The same request for a terminal. The screen never shows the key, which may be copied with the command. */
export function CurlPanel({ request, apiKey }: { request: PreparedRequest; apiKey: string }) {
  const [withKey, setWithKey] = useState(false);
  const shown = curlCommand(request, null);
  return (
    <Panel
      title="curl"
      description={
        <>
          Exactly what is sent, with the key in <code>{KEY_VARIABLE}</code>
        </>
      }
      actions={
        <Group gap="md">
          <Switch
            size="sm"
            label="Copy with my key"
            checked={withKey}
            onChange={(event) => setWithKey(event.currentTarget.checked)}
          />
          <CopyButton
            value={withKey ? curlCommand(request, apiKey) : shown}
            label="Copy"
            what="command"
            size="xs"
            variant="default"
          />
        </Group>
      }
    >
      <pre className="try-code" tabIndex={0} role="region" aria-label="curl command">
        {shown}
      </pre>
      {withKey && (
        <Text size="xs" c="dimmed" mt="xs" role="status">
          Copying puts your API key on the clipboard. It stays hidden here.
        </Text>
      )}
    </Panel>
  );
}
