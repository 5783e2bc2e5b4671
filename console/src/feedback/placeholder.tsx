import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';

/** Stands in the place of what loads and is as large, whatever the width: it lays out an example of it, unseen. */
export function Placeholder({ children }: { children: ReactNode }) {
  return (
    <Skeleton radius="lg">
      <div style={{ visibility: 'hidden' }}>{children}</div>
    </Skeleton>
  );
}
