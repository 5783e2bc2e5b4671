import { Skeleton } from '@mantine/core';
import type { CurrentKey } from 'animal-store-client';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { useOwnKey } from '../session/own-key';
import { NotFoundPage } from './not-found.page';
import { Page } from './page';

interface ForKeysProps {
  /** The title of the page while it cannot be loaded. */
  title: string;
  /** Returns whether there is such a page for a key. */
  isFor: (key: CurrentKey) => boolean;
  children: (key: CurrentKey) => ReactNode;
}

/** Pages for some keys only. The service checks again what the key may do. */
export function ForKeys({ title, isFor, children }: ForKeysProps) {
  const { data: key, error, errorUpdatedAt, refetch } = useOwnKey();
  if (key !== undefined) {
    return isFor(key) ? children(key) : <NotFoundPage />;
  }
  return error === null ? (
    <Skeleton height={400} radius="lg" />
  ) : (
    <Page title={title}>
      <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />
    </Page>
  );
}
