import { statusOfCode } from '../../../src/http/routes/catalogue';
import { REQUEST_ID_MAX_LENGTH } from '../../../src/usage/rules/request-id';
import type { ListAllFailedRequestsQuery } from 'animal-store-client';
import { localTime, oneOf, searchReader, textUpTo, uuid } from '../address/search-reader';
import { EXTERNAL_ID_MAX_LENGTH } from '../keys/keys-search';
import { withPage } from '../table/use-address-position';

export const CODES = Object.keys(statusOfCode);
export const STATUSES = [...new Set(Object.values(statusOfCode).map(String))].toSorted();

export const readFilters = searchReader({
  requestId: textUpTo(REQUEST_ID_MAX_LENGTH),
  keyId: uuid,
  quotaId: uuid,
  externalId: textUpTo(EXTERNAL_ID_MAX_LENGTH),
  status: oneOf(STATUSES),
  code: oneOf(CODES),
  since: localTime,
  until: localTime,
});

/** The filters of the list, and which page of it is shown. */
export const failedRequestsSearch = withPage(readFilters);
/** The filters of the list. */
export type FailedRequestsSearch = ReturnType<typeof readFilters>;

/** The `X-Request-Id` of the requests that are shown. It may have characters that a path does not keep. */
export const failedRequestSearch = searchReader({ id: textUpTo(REQUEST_ID_MAX_LENGTH) });

/** Returns the query of the filters, with times in UTC. */
export function toQuery({
  since,
  until,
  status,
  code,
  ...rest
}: FailedRequestsSearch): ListAllFailedRequestsQuery {
  return {
    ...rest,
    ...(status !== undefined && { status: Number(status) }),
    ...(code !== undefined && { code: code as NonNullable<ListAllFailedRequestsQuery['code']> }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}
