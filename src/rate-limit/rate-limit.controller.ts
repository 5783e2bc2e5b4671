import { Controller, Get, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../principal.js';
import { Stability } from '../deprecation/stability.decorator.js';
import { Answers } from '../openapi/answers.decorator.js';
import { Inquiry } from './inquiry.decorator.js';
import { RateLimitStanding } from './standing.schema.js';

const INQUIRIES_PER_MINUTE = 60;

@ApiTags('limits')
@Controller('/v1/rate-limit')
export class RateLimitController {
  @Get()
  @Inquiry(INQUIRIES_PER_MINUTE)
  @Stability('stable')
  @ApiOperation({
    summary: 'Get the rate-limit status',
    description:
      `Returns the windows of the key and its ban, if any. It takes nothing from them, and works while the key is banned; it has ` +
      `a limit of its own, ${INQUIRIES_PER_MINUTE} requests a minute.`,
  })
  @Answers({ status: 200, schema: RateLimitStanding, description: 'The rate-limit status of the key.' })
  getRateLimit(@Req() request: FastifyRequest): RateLimitStanding {
    const { quota } = requirePrincipal(request);
    const { decision } = request;
    if (decision === null) {
      throw new Error('A request for the rate-limit status must be counted first');
    }
    const { windows, refusalsUntilBan, ban } = decision;
    return {
      plan: quota.plan,
      windows: windows.map(({ name, limit, remaining, resetSeconds }) => ({
        name,
        limit,
        remaining,
        reset: resetSeconds,
      })),
      refusalsUntilBan,
      bannedUntil: ban === null ? null : new Date(ban.untilMs).toISOString(),
    };
  }
}
