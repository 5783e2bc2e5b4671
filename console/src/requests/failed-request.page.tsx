import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconZoomQuestion } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { AnimalStore, FailedRequest, AdminFailedRequest, ResultPage } from 'animal-store-client';
import { CopyButton } from '../feedback/copy-button';
import { EmptyState } from '../feedback/empty-state';
import { Loaded } from '../feedback/loaded';
import { Instant } from '../format/instant';
import { countText } from '../format/number';
import { UntrustedText } from '../format/untrusted-text';
import { ZONE } from '../format/zone';
import { Fact } from '../layout/fact';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { RequestKey, ResponseStatus, tookText } from './failed-request-cells';

/** A client that sends one id again and again finds its last requests; the list has them all. */
const SHOWN_MAX = 10;
/** A request is kept within a second, so an id that is not found is looked up again for that long. */
const AGAIN_MS = 700;
const LOOK_UPS_MAX = 3;

const adminRoute = getRouteApi('/admin/requests/show');
const ownRoute = getRouteApi('/requests/show');

/** The failed requests of all clients with an `X-Request-Id`. */
export function FailedRequestPage() {
  const { id = '' } = adminRoute.useSearch();
  return <Found key={id} id={id} isOfAll load={loadOfAll} />;
}

/** The failed requests of the reader's quota with an `X-Request-Id`. */
export function OwnFailedRequestPage() {
  const { id = '' } = ownRoute.useSearch();
  return <Found key={id} id={id} isOfAll={false} load={loadOwn} />;
}

type Load = (
  store: AnimalStore,
  requestId: string,
  signal: AbortSignal,
) => Promise<ResultPage<FailedRequest | AdminFailedRequest>>;

const loadOfAll: Load = (store, requestId, signal) =>
  store.admin.requests.list({ requestId, limit: SHOWN_MAX }, { signal });
const loadOwn: Load = (store, requestId, signal) =>
  store.requests.list({ requestId, limit: SHOWN_MAX }, { signal });

interface FoundProps {
  id: string;
  isOfAll: boolean;
  load: Load;
}

function Found({ id, isOfAll, load }: FoundProps) {
  const store = useStore();
  const query = useQuery({
    queryKey: ['failed-requests', isOfAll ? 'all' : 'own', 'one', id],
    queryFn: ({ signal }) => load(store, id, signal),
    enabled: id !== '',
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data?.items.length === 0 && state.dataUpdateCount < LOOK_UPS_MAX ? AGAIN_MS : false,
  });
  return (
    <Page
      title="Failed request"
      description={
        <TextLink to={isOfAll ? '/admin/requests' : '/requests'} inherit>
          All failed requests
        </TextLink>
      }
    >
      <Stack gap="lg">
        <Group gap="sm" align="center">
          <Text component="span" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            <bdi>{id}</bdi>
          </Text>
          <CopyButton value={id} label="Copy the ID" what="ID" size="compact-sm" variant="default" />
        </Group>
        {id === '' ? (
          <NotFound isOfAll={isOfAll} />
        ) : (
          <Loaded query={query} skeleton={<Skeleton height={320} radius="lg" />}>
            {({ items, nextCursor }) =>
              items.length === 0 ? (
                <NotFound isOfAll={isOfAll} />
              ) : (
                <>
                  {items.length > 1 && (
                    <Text size="sm" c="dimmed">
                      {nextCursor === null
                        ? `${countText(items.length, 'failed request')} have this ID: their client sent it.`
                        : `More than ${SHOWN_MAX} failed requests have this ID: their client sent it.`}{' '}
                      The newest is first.{' '}
                      <TextLink
                        to={isOfAll ? '/admin/requests' : '/requests'}
                        search={{ requestId: id }}
                        inherit
                      >
                        Show them as a list
                      </TextLink>
                    </Text>
                  )}
                  {items.map((request, index) => (
                    <Request
                      key={`${request.requestedAt} ${items.length - index}`}
                      request={request}
                      isOfAll={isOfAll}
                    />
                  ))}
                </>
              )
            }
          </Loaded>
        )}
      </Stack>
    </Page>
  );
}

function NotFound({ isOfAll }: { isOfAll: boolean }) {
  return (
    <Panel>
      <EmptyState icon={IconZoomQuestion} title="No failed request with this ID is kept">
        Requests that succeed are not kept. Those that got 4xx or 5xx are kept for 24 hours, unless the
        service is set otherwise: at most 60 a minute for {isOfAll ? 'a' : 'your'} quota
        {isOfAll && ', and at most 60 a minute for all requests without a known key'}. Check that you entered
        the whole ID, and nothing else.
        {isOfAll && ' The log of the service has the ID of every request.'}
      </EmptyState>
    </Panel>
  );
}

interface RequestProps {
  request: FailedRequest | AdminFailedRequest;
  isOfAll: boolean;
}

function Request({ request, isOfAll }: RequestProps) {
  const { requestedAt, method, path, operation, message } = request;
  return (
    <Panel title={`${method} ${path}`}>
      <Stack gap="xs">
        <Fact label="Response">
          <ResponseStatus {...request} />
        </Fact>
        <Fact label="Message">
          <UntrustedText>{message}</UntrustedText>
        </Fact>
        <Fact label="Time">
          <Instant at={requestedAt} toSecond /> ({ZONE})
        </Fact>
        <Fact label="Took">{tookText(request)}</Fact>
        <Fact label="Operation">{operation === 'none' ? 'None at this path' : operation}</Fact>
        <Fact label="Key">
          <RequestKey request={request} isOfAll={isOfAll} />
        </Fact>
        {'quotaId' in request && (
          <>
            {request.quotaId !== null && (
              <Fact label="Quota">
                <TextLink to="/admin/requests" search={{ quotaId: request.quotaId }} inherit>
                  All failed requests of the quota
                </TextLink>
              </Fact>
            )}
            {request.plan !== null && <Fact label="Plan">{request.plan}</Fact>}
            {request.externalId !== null && (
              <Fact label="External ID">
                <TextLink to="/admin/requests" search={{ externalId: request.externalId }} inherit>
                  <UntrustedText>{request.externalId}</UntrustedText>
                </TextLink>
              </Fact>
            )}
            <Fact label="Address">{request.clientAddress}</Fact>
          </>
        )}
      </Stack>
    </Panel>
  );
}
