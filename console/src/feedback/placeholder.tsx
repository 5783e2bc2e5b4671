import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';

/**
 * Reserves the space of content that still loads: it lays out a hidden example of it, which has its size at
 * any width.
 */
export function Placeholder({ children }: { children: ReactNode }) {
  return (
    <Skeleton radius="lg">
      <div style={{ visibility: 'hidden' }}>{children}</div>
    </Skeleton>
  );
}
