import { Button, Group } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Panel } from './panel';

/** Matches a screen on which the rows of tables are cards, as the style sheet does. */
const PHONE = '(max-width: 47.99em)';

interface FoldingPanelProps {
  title: string;
  description: ReactNode;
  actions: ReactNode;
  children: ReactNode;
}

/** A panel that shows only its heading on a phone until the reader opens it. */
export function FoldingPanel({ title, description, actions, children }: FoldingPanelProps) {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false });
  const [isOpen, { toggle }] = useDisclosure(false);
  if (!isPhone) {
    return (
      <Panel title={title} description={description} actions={actions}>
        {children}
      </Panel>
    );
  }
  const button = (
    <Button
      variant="default"
      size="xs"
      aria-expanded={isOpen}
      aria-label={`${isOpen ? 'Hide' : 'Show'} ${title.toLowerCase()}`}
      onClick={toggle}
    >
      {isOpen ? 'Hide' : 'Show'}
    </Button>
  );
  return (
    <Panel title={title} description={isOpen && description} actions={button}>
      {isOpen && (
        <>
          <Group mb="sm">{actions}</Group>
          {children}
        </>
      )}
    </Panel>
  );
}
