import { Divider, Stack, type StackProps } from '@mantine/core';
import { Fragment, type ReactElement } from 'react';

/** A stack of entries with lines between them. */
export function DividedStack({ children, ...stack }: StackProps & { children: ReactElement[] }) {
  return (
    <Stack {...stack}>
      {children.map((entry, index) => (
        <Fragment key={entry.key}>
          {index > 0 && <Divider />}
          {entry}
        </Fragment>
      ))}
    </Stack>
  );
}
