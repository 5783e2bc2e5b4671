import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useOwnKey } from '../session/own-key';
import { NotFoundPage } from './not-found.page';

/** A page of administrators, which for other keys is not there. The service checks the role again. */
export function AdministratorsOnly({ children }: { children: ReactNode }) {
  const { data: key, isPending } = useOwnKey();
  if (isPending) {
    return <Skeleton height={400} radius="lg" />;
  }
  return key?.role === 'client' ? <NotFoundPage /> : children;
}
