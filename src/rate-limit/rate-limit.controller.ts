import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../auth/principal.js';
import { Operation } from '../openapi/operation.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { HasOwnLimit, STATUS_LIMIT } from './own-limit.decorator.js';
import { RateLimitStatus, rateLimitStatus } from './rate-limit-status.schema.js';

@Tag('limits', 'The rate-limit status of a key.')
@Controller('/v1/rate-limit')
export class RateLimitController {
  @Get()
  @HasOwnLimit(STATUS_LIMIT)
  @Operation({
    stability: 'stable',
    scope: null,
    summary: 'Get the rate-limit status',
    description:
      'Returns the windows of the key and its ban, if any, even while it is banned. ' +
      'It takes nothing from the windows, and has ' +
      `a limit of its own: ${STATUS_LIMIT.perMinute} requests a minute.`,
  })
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
