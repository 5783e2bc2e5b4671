import { Skeleton } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { ErrorNotice } from '../feedback/error-notice';
import { useOwnKey } from '../session/own-key';
import { NotFoundPage } from './not-found.page';
import { Page } from './page';

/** The pages of administrators, which for other keys are not there. The service checks the role again. */
export function AdministratorsOnly() {
  const { data: key, error, errorUpdatedAt, refetch } = useOwnKey();
  if (key !== undefined) {
    return key.role === 'client' ? <NotFoundPage /> : <Outlet />;
  }
  return error === null ? (
    <Skeleton height={400} radius="lg" />
  ) : (
    <Page title="Administration">
      <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />
    </Page>
  );
}
