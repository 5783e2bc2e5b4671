import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows the little Markdown that the documents use: paragraphs, code and bold. Anything else stays text. */
export function Prose({ text }: { text: string }) {
  return (
    <Stack gap={6}>
      {text.split(/\n{2,}/).map((paragraph) => (
        <Text key={paragraph} size="sm" maw={640}>
          {inline(paragraph)}
        </Text>
      ))}
    </Stack>
  );
}

/** Shows code and bold of one line. */
export function inline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, index) => {
    const key = `${index} ${part}`;
    if (part.startsWith('`') && part.length > 1) {
      return <Code key={key}>{part.slice(1, -1)}</Code>;
    }
    return part.startsWith('**') ? <strong key={key}>{part.slice(2, -2)}</strong> : part;
  });
}
