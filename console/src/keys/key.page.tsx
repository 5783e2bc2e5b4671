import { Group, Skeleton, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { type KeyWithUsage, NotFoundError, PermissionDeniedError } from 'animal-store-client';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { StaleNotice } from '../feedback/stale-notice';
import { MaskedKey } from '../format/masked-key';
import { NotFoundPage } from '../layout/not-found.page';
import { Page } from '../layout/page';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { InvalidKey } from './invalid-key';
import { KeyActions } from './key-actions';
import { KeyAuditPanel } from './key-audit-panel';
import { KeyBadges } from './key-badges';
import { KeyFailuresPanel } from './key-failures-panel';
import { KeyFactsPanel } from './key-facts-panel';
import { KeyLimits } from './key-limits';
import { keyQuery } from './key-query';
import { isValid } from './key-state';
import { KeyUsagePanels } from './key-usage-panels';
import { QuotaKeysPanel } from './quota-keys-panel';
import { WhatIfPanel } from './what-if-panel';

const route = getRouteApi('/admin/keys/$id');

/** One key: what it is, how it is used, and what can be done with it. */
export function KeyPage() {
  const { id } = route.useParams();
  const { data, error, errorUpdatedAt, refetch } = useQuery(keyQuery(useStore(), id));
  if (data !== undefined) {
    return (
      <LoadedKey key={id} apiKey={data}>
        {error !== null && <StaleNotice error={error} at={errorUpdatedAt} retry={refetch} />}
      </LoadedKey>
    );
  }
  // A key without a scope, or from another address, gets an error that says so.
  if (error instanceof PermissionDeniedError && error.code === 'forbidden') {
    return <NotFoundPage />;
  }
  if (error instanceof NotFoundError) {
    return (
      <Page title="There is no such key" description="The address may be mistyped.">
        <TextLink to="/admin/keys">Show all keys</TextLink>
      </Page>
    );
  }
  return (
    <Page title="Key">
      {error === null ? (
        <Skeleton height={520} radius="lg" />
      ) : (
        <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />
      )}
    </Page>
  );
}

function LoadedKey({ apiKey, children }: { apiKey: KeyWithUsage; children: ReactNode }) {
  return (
    <Page
      title={apiKey.name}
      badge={<KeyBadges apiKey={apiKey} />}
      description={
        <Group component="span" gap="xs">
          <TextLink to="/admin/keys" inherit>
            Keys
          </TextLink>
          <MaskedKey apiKey={apiKey} />
        </Group>
      }
      actions={<KeyActions apiKey={apiKey} />}
    >
      <Stack gap="lg">
        {children}
        {isValid(apiKey) ? <KeyLimits quotaId={apiKey.quotaId} /> : <InvalidKey apiKey={apiKey} />}
        <KeyFactsPanel apiKey={apiKey} />
        <QuotaKeysPanel apiKey={apiKey} />
        <KeyUsagePanels apiKey={apiKey} />
        <KeyFailuresPanel apiKey={apiKey} />
        <WhatIfPanel apiKey={apiKey} />
        <KeyAuditPanel apiKey={apiKey} />
      </Stack>
    </Page>
  );
}
