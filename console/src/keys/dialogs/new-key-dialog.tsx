import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import type { IssuedKey } from 'animal-store-client';
import { useState } from 'react';
import { CopyButton } from '../../feedback/copy-button';
import { useSessionHold } from '../../session/session';

interface NewKeyDialogProps {
  /** The key to show; null shows nothing. */
  issued: IssuedKey | null;
  /** Also moves the focus: the button that had it before is in the dialog that this one replaces. */
  onClose: () => void;
}

/** Shows a new key, once. Leaving without having copied it asks first. */
export function NewKeyDialog({ issued, onClose }: NewKeyDialogProps) {
  const [isLeaving, setLeaving] = useState(false);
  const close = () => {
    setLeaving(false);
    onClose();
  };
  // Any request may find the signed-in key rejected, such as after its rotation without an overlap.
  useSessionHold(issued !== null);
  useBlocker({
    disabled: issued === null,
    shouldBlockFn: () => {
      setLeaving(true);
      return true;
    },
    enableBeforeUnload: () => issued !== null,
  });
  return (
    <Modal
      opened={issued !== null}
      onClose={() => setLeaving(!isLeaving)}
      closeOnClickOutside={false}
      returnFocus={false}
      size="lg"
      title={isLeaving ? 'Leave without the key?' : 'Copy the new key'}
    >
      {issued !== null &&
        (isLeaving ? (
          <LeaveQuestion onBack={() => setLeaving(false)} onLeave={close} />
        ) : (
          <NewKey apiKey={issued.key} onDone={close} />
        ))}
    </Modal>
  );
}

function NewKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        It is shown only this once, because the service keeps no copy. Give it to its holder over a safe
        channel.
      </Text>
      <Code block className="new-key">
        {apiKey}
      </Code>
      <Group justify="space-between" gap="sm">
        <CopyButton value={apiKey} label="Copy key" what="key" data-autofocus autoFocus />
        <Button variant="default" onClick={onDone}>
          I have copied it
        </Button>
      </Group>
    </Stack>
  );
}

function LeaveQuestion({ onBack, onLeave }: { onBack: () => void; onLeave: () => void }) {
  return (
    <Stack>
      <Alert color="orange" title="The key cannot be shown again">
        Without a copy nobody can use it. It stays valid until you revoke it.
      </Alert>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onLeave}>
          Leave
        </Button>
        <Button onClick={onBack} autoFocus>
          Back to the key
        </Button>
      </Group>
    </Stack>
  );
}
