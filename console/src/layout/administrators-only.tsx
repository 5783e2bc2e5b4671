import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { useOwnKey } from '../session/own-key';
import { NotFoundPage } from './not-found.page';
import { Page } from './page';

/** A page of administrators, which for other keys is not there. The service checks the role again. */
export function AdministratorsOnly({ children }: { children: ReactNode }) {
  const { data: key, error, errorUpdatedAt, refetch } = useOwnKey();
  if (key !== undefined) {
    return key.role === 'client' ? <NotFoundPage /> : children;
  }
  return error === null ? (
    <Skeleton height={400} radius="lg" />
  ) : (
    <Page title="Administration">
      <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />
    </Page>
  );
}
