import { Button, type ButtonProps, Input, Stack } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';

interface CopyButtonProps extends Omit<ButtonProps, 'leftSection'> {
  value: string;
  label: string;
  /** What the reader selects if the browser does not copy, such as "key". */
  what: string;
  autoFocus?: boolean;
}

/**
 * Copies a text. Browsers lend pages loaded over plain HTTP no clipboard, so a failure says what to do
 * instead.
 */
export function CopyButton({ value, label, what, ...button }: CopyButtonProps) {
  const { copy, copied, error } = useClipboard();
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <Stack gap={4}>
      <div>
        <Button {...button} leftSection={<Icon size={14} aria-hidden />} onClick={() => copy(value)}>
          {copied ? 'Copied' : label}
        </Button>
      </div>
      {error !== null && (
        <Input.Error role="alert">Copying failed: select the {what} and copy it</Input.Error>
      )}
    </Stack>
  );
}
