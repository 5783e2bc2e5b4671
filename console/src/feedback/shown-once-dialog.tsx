import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { useSessionHold } from '../session/session';
import { CopyButton } from './copy-button';

interface ShownOnceDialogProps {
  /** The secret to show; null shows nothing. */
  value: string | null;
  /** Names the secret, such as "key". */
  what: string;
  /** Says what to do with it. */
  advice: string;
  /** Says what happens without a copy. */
  loss: string;
  /** Also moves the focus: the button that had it before is in the dialog that this one replaces. */
  onClose: () => void;
}

/** Shows a new secret, once. Leaving without having copied it asks first. */
export function ShownOnceDialog({ value, what, advice, loss, onClose }: ShownOnceDialogProps) {
  const [isLeaving, setLeaving] = useState(false);
  const close = () => {
    setLeaving(false);
    onClose();
  };
  // Any request may find the signed-in key rejected, such as after its rotation without an overlap.
  useSessionHold(value !== null);
  useBlocker({
    disabled: value === null,
    shouldBlockFn: () => {
      setLeaving(true);
      return true;
    },
    enableBeforeUnload: () => value !== null,
  });
  return (
    <Modal
      opened={value !== null}
      onClose={() => setLeaving(!isLeaving)}
      closeOnClickOutside={false}
      returnFocus={false}
      size="lg"
      title={isLeaving ? `Leave without the ${what}?` : `Copy the new ${what}`}
    >
      {value !== null &&
        (isLeaving ? (
          <Stack>
            <Alert color="orange" title={`The ${what} cannot be shown again`}>
              {loss}
            </Alert>
            <Group justify="flex-end" gap="sm">
              <Button variant="default" onClick={close}>
                Leave
              </Button>
              <Button onClick={() => setLeaving(false)} autoFocus>
                Back to the {what}
              </Button>
            </Group>
          </Stack>
        ) : (
          <Stack>
            <Text size="sm">{advice}</Text>
            <Code block className="new-key">
              {value}
            </Code>
            <Group justify="space-between" gap="sm">
              <CopyButton value={value} label={`Copy ${what}`} what={what} data-autofocus autoFocus />
              <Button variant="default" onClick={close}>
                I have copied it
              </Button>
            </Group>
          </Stack>
        ))}
    </Modal>
  );
}
