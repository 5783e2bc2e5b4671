import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNotice } from '../feedback/error-notice';
import { Page } from './page';

/** Replaces a page that failed to render or to load its code, such as after an update of the service. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <ErrorNotice
        error={error instanceof Error ? error : new Error(String(error))}
        at={Date.now()}
        retry={() => window.location.reload()}
      />
    </Page>
  );
}
