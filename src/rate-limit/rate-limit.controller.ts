import { Controller, Get, Req } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../auth/principal.js';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import { Operation } from '../openapi/operation.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { RateLimitStatus, rateLimitStatus } from './rate-limit-status.schema.js';

const REQUESTS_PER_MINUTE = 60;

@Tag('limits', 'The rate-limit status of a key.')
@Controller('/v1/rate-limit')
export class RateLimitController {
  @Get()
  @AddRouteConfig({ statusRequestsPerMinute: REQUESTS_PER_MINUTE })
  @ApiExtension('x-counted', false)
  @Operation(
    'stable',
    null,
    'Get the rate-limit status',
    'Returns the windows of the key and its ban, if any, even while it is banned. ' +
      'It takes nothing from the windows, and has ' +
      `a limit of its own: ${REQUESTS_PER_MINUTE} requests a minute.`,
  )
  @Responses({ status: 200, schema: RateLimitStatus, description: 'The rate-limit status of the key.' })
  getRateLimit(@Req() request: FastifyRequest): RateLimitStatus {
    const { quota } = requirePrincipal(request);
    const { decision } = request;
    if (decision === null) {
      throw new Error('A request for the rate-limit status must be counted first');
    }
    return rateLimitStatus(quota.plan, decision);
  }
}
