import { FailedRequestRepository } from '../usage/failed-requests/failed-request.repository.js';
import {
  type AdminFailedRequest,
  type AdminFailedRequestQuery,
  FailedRequestQuery,
} from '../usage/failed-requests/failed-request.schemas.js';
import { externalId } from '../keys/quota.schemas.js';
import { requestIdIn } from '../usage/rules/request-id.js';
import { parsedBy, positiveInteger, rangeEnd, recordText } from './arguments.js';
import { command, group } from './command.js';
import { fieldsText, linesText, tableText } from './output/text.js';
import { findId, idCell } from './record-id.js';

/** How many requests with one id are counted. */
const SAME_ID_MAX = 100;

/** The options of `requests list`, beside those that are named as in the query. */
interface ListOptions extends AdminFailedRequestQuery {
  key?: string;
  quota?: string;
}

export const requestsCommand = group('requests', 'requests that failed', [
  command('list', 'list requests that got 4xx or 5xx, newest first')
    .option('--limit <n>', 'maximum number of requests', positiveInteger, 20)
    .option('--request-id <id>', 'only with this X-Request-Id', recordText)
    .option('--key <id>', 'only with this key', recordText)
    .option('--quota <id>', 'only with keys of this quota', recordText)
    .option(
      '--external-id <text>',
      'only with keys whose quota has exactly this external id',
      parsedBy(externalId),
    )
    .option(
      '--status <status>',
      'only with this status, from 400 to 599',
      parsedBy(FailedRequestQuery.shape.status),
    )
    .option(
      '--code <code>',
      'only with this code, such as invalid_request',
      parsedBy(FailedRequestQuery.shape.code),
    )
    .option('--since <instant>', 'only since then, such as 2027-01-01 or 2027-01-01T00:00:00Z', rangeEnd)
    .option('--until <instant>', 'only before then', rangeEnd)
    .run(async (services, { key, quota, ...filters }: ListOptions) => {
      const keyId = await findId(services, 'key', key);
      const quotaId = await findId(services, 'quota', quota);
      const page = await services.get(FailedRequestRepository).page({ ...filters, keyId, quotaId });
      return { value: page.entries, text: () => pageText(page) };
    }),

  command('show', 'show the newest failed request with an X-Request-Id')
    .argument('<request-id>', 'the X-Request-Id that the client got, or a text with it', recordText)
    .run(async (services, text: string) => {
      const requestId = requestIdIn(text);
      const repository = services.get(FailedRequestRepository);
      const request = await repository.find(requestId);
      const { entries } = await repository.page({ requestId, limit: SAME_ID_MAX });
      return { value: request, text: () => requestText(request) + othersText(entries.length - 1) };
    }),
]);

function pageText({ entries, missing }: { entries: AdminFailedRequest[]; missing: number }): string {
  const haveExternalIds = entries.some((request) => request.externalId !== null);
  const rows = entries.map((request) => ({
    'requested at': request.requestedAt,
    'request id': request.requestId,
    operation: request.operation,
    status: request.status,
    code: request.code,
    key: keyText(request),
    'external id': haveExternalIds ? request.externalId : undefined,
  }));
  return missing === 0
    ? tableText(rows)
    : tableText(rows) +
        linesText('', `${missing} more failed and are not kept: there were too many at once.`);
}

function requestText(request: AdminFailedRequest): string {
  const { requestId, requestedAt, method, path, operation, status, code, message, durationMs } = request;
  return fieldsText({
    'request id': requestId,
    'requested at': requestedAt,
    request: `${method} ${path}`,
    operation,
    response: `${status} ${code}`,
    message,
    duration: `${durationMs} ms`,
    key: keyText(request),
    quota: request.quotaId,
    plan: request.plan ?? undefined,
    'external id': request.externalId ?? undefined,
    address: request.clientAddress,
  });
}

/** Returns what the terminal says of earlier requests with the same id, which their client sent again. */
function othersText(count: number): string {
  const subject = count === 1 ? '1 earlier failed request has' : `${count} earlier failed requests have`;
  return count < 1 ? '' : linesText('', `${subject} this id too: requests list --request-id ID`);
}

function keyText({ keyId, keyName, prefix, lastFour }: AdminFailedRequest): string | null {
  return keyId === null ? null : `"${keyName}" ${prefix}…${lastFour} (${idCell(keyId)})`;
}
