import { Button, Group, Text, Textarea } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { indentJson, isJson } from './json-text';

/** The request body as text. Invalid JSON can be sent too, because the response of the service explains it. */
export function BodyInput({ field }: { field: GetInputPropsReturnType }) {
  const text = String(field.value);
  const isValid = isJson(text);
  return (
    <div>
      <Textarea
        {...field}
        label="Request body"
        description="JSON. It is sent exactly as it stands here."
        classNames={{ input: 'try-code-input' }}
        autosize
        minRows={5}
        maxRows={18}
        spellCheck={false}
        autoComplete="off"
      />
      <Group justify="space-between" mt={6} gap="xs">
        <Text size="xs" c="dimmed" role="status">
          {text === ''
            ? 'Sent without a body.'
            : isValid
              ? 'Valid JSON.'
              : 'Not valid JSON. You can send it to see the error.'}
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          disabled={!isValid}
          onClick={() => field.onChange(indentJson(text))}
        >
          Format
        </Button>
      </Group>
    </div>
  );
}
