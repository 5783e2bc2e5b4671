import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { reachService } from '../address/reach-service';
import { ErrorNotice } from '../feedback/error-notice';
import { Page } from './page';

/**
 * Replaces a page that failed to render. It loads the console again on demand, or when
 * the browser is online again, but only once the service responds.
 */
export function PageError({ error }: ErrorComponentProps) {
  const [failure, setFailure] = useState({ error: asError(error), at: Date.now() });
  useEffect(() => {
    const retryOnline = () => void retry();
    window.addEventListener('online', retryOnline);
    return () => window.removeEventListener('online', retryOnline);
  }, []);
  const retry = () =>
    reachService().then(
      () => window.location.reload(),
      (cause: unknown) => setFailure({ error: asError(cause), at: Date.now() }),
    );
  return (
    <Page title="This page could not be loaded">
      <ErrorNotice {...failure} retry={retry} />
    </Page>
  );
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
