import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../../auth/current-principal.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { respondWithPage } from '../../http/responses/respond-with-page.js';
import { AdminRead, Operation } from '../../openapi/operation.decorator.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import { Tag } from '../../openapi/tag.decorator.js';
import { STORED_PER_MINUTE_MAX } from '../rules/failed-request-batch.js';
import { REQUEST_ID_MAX_LENGTH } from '../rules/request-id.js';
import { FailedRequestRepository } from './failed-request.repository.js';
import {
  FailedRequest,
  AdminFailedRequest,
  AdminFailedRequestQuery,
  FailedRequestQuery,
} from './failed-request.schemas.js';

const OWN_PATH = '/v1/requests';
const PATH = '/admin/requests';
const KEPT =
  'A request appears within a second, and is kept for a day, or up to 7, as the service is set. ' +
  `Up to ${STORED_PER_MINUTE_MAX} a minute are kept of a quota, and of all without a valid key: ` +
  '`X-Missing-Count` says how many are missing.';

@Tag('requests', 'Requests that failed.')
@Controller()
export class FailedRequestsController {
  constructor(private readonly requests: FailedRequestRepository) {}

  @Get(OWN_PATH)
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'List failed requests',
    description:
      'Returns one page of the requests with keys of your quota that got 4xx or 5xx, newest first. ' + KEPT,
  })
  @PageResponse(FailedRequest, 'A page of failed requests.', 'X-Missing-Count')
  listFailedRequests(
    @Query({ schema: FailedRequestQuery }) query: FailedRequestQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdminFailedRequest[]> {
    return this.respond(reply, { ...query, quotaId: quota.id }, OWN_PATH, query);
  }

  @Get(`${OWN_PATH}/:requestId`)
  @ApiParam({
    name: 'requestId',
    description: 'The `X-Request-Id` of the response.',
    schema: { type: 'string', maxLength: REQUEST_ID_MAX_LENGTH },
  })
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'Get a failed request',
    description:
      'Returns the newest request with a key of your quota that had this `X-Request-Id` and got 4xx or 5xx.',
  })
  @Responses({ status: 200, schema: FailedRequest, description: 'The failed request.' })
  getFailedRequest(
    @Param('requestId') requestId: string,
    @CurrentPrincipal() { quota }: Principal,
  ): Promise<AdminFailedRequest> {
    return this.requests.find(requestId, quota.id);
  }

  @Get(PATH)
  @AdminRead({
    summary: 'List failed requests of all clients',
    description: `Returns one page of the requests that got 4xx or 5xx, newest first. ${KEPT}`,
  })
  @PageResponse(AdminFailedRequest, 'A page of failed requests.', 'X-Missing-Count')
  listAllFailedRequests(
    @Query({ schema: AdminFailedRequestQuery }) query: AdminFailedRequestQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdminFailedRequest[]> {
    return this.respond(reply, query, PATH, query);
  }

  private async respond(
    reply: FastifyReply,
    selection: AdminFailedRequestQuery,
    path: string,
    query: object,
  ): Promise<AdminFailedRequest[]> {
    const page = await this.requests.page(selection);
    reply.header('X-Missing-Count', page.missing);
    return respondWithPage(reply, page, path, query, (last) => last);
  }
}
