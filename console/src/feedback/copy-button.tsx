import { ActionIcon, Button, type ButtonProps, Input, Stack } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';

interface CopyButtonProps extends Omit<ButtonProps, 'leftSection'> {
  value: string;
  label: string;
  /** What the reader selects if the browser does not copy, such as "key". */
  what: string;
  autoFocus?: boolean;
  /** Shows only the icon, beside a text in a line. */
  isIcon?: boolean;
}

/**
 * Copies a text. Browsers lend pages loaded over plain HTTP no clipboard, so a failure says what to do
 * instead.
 */
export function CopyButton({ value, label, what, isIcon = false, ...button }: CopyButtonProps) {
  const { copy, copied, error } = useClipboard();
  const Icon = copied ? IconCheck : IconCopy;
  const text = copied ? 'Copied' : label;
  return (
    <Stack gap={4}>
      <div>
        {isIcon ? (
          <ActionIcon variant="default" aria-label={text} title={text} onClick={() => copy(value)}>
            <Icon size={14} aria-hidden />
          </ActionIcon>
        ) : (
          <Button {...button} leftSection={<Icon size={14} aria-hidden />} onClick={() => copy(value)}>
            {text}
          </Button>
        )}
      </div>
      {error !== null && (
        <Input.Error role="alert">Copying failed: select the {what} and copy it</Input.Error>
      )}
    </Stack>
  );
}
