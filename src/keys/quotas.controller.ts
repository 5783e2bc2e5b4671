import { Body, Controller, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Actor } from '../audit/audit.js';
import { CurrentActor } from '../audit/current-actor.decorator.js';
import { AdminRead, AdminWrite } from '../openapi/operation.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { RateLimitStatus } from '../rate-limit/rate-limit-status.schema.js';
import { UUID_LENGTH } from '../schemas/uuid.js';
import { Quota, UpdateQuotaInput } from './quota.schemas.js';
import { QuotaService } from './quota.service.js';

const QuotaId = () =>
  ApiParam({
    name: 'quotaId',
    description: 'Identifier of the quota. Its keys have it as `quotaId`.',
    schema: { type: 'string', format: 'uuid', maxLength: UUID_LENGTH },
  });

@Tag('quotas', 'Quotas: the plan, limits, counts and ban that keys share.')
@Controller('/admin/quotas/:quotaId')
export class QuotasController {
  constructor(private readonly quotas: QuotaService) {}

  @Get()
  @QuotaId()
  @AdminRead({
    summary: 'Get a quota',
    description: 'Returns the plan of a quota, its limits, its external id, and its ban, if any.',
  })
  @Responses({ status: 200, schema: Quota, description: 'The quota.' })
  getQuota(@Param('quotaId') quotaId: string): Promise<Quota> {
    return this.quotas.find(quotaId);
  }

  @Patch()
  @QuotaId()
  @AdminWrite({
    summary: 'Update a quota',
    description:
      'Changes the plan of a quota, its own limits and its external id, for all its keys. What the body ' +
      'leaves out stays, and null removes an own limit or the external id. It applies on every replica ' +
      'within a second, and keeps the counts.',
  })
  @Responses({ status: 200, schema: Quota, description: 'The changed quota.' })
  updateQuota(
    @Param('quotaId') quotaId: string,
    @Body({ schema: UpdateQuotaInput }) input: UpdateQuotaInput,
    @CurrentActor() actor: Actor,
  ): Promise<Quota> {
    return this.quotas.update(quotaId, input, actor);
  }

  @Post('unban')
  @HttpCode(200)
  @QuotaId()
  @AdminWrite({
    summary: 'Lift a ban',
    description: 'Ends the ban of a quota, if there is one.',
  })
  @Responses({ status: 200, schema: Quota, description: 'The quota, without a ban.' })
  unbanQuota(@Param('quotaId') quotaId: string, @CurrentActor() actor: Actor): Promise<Quota> {
    return this.quotas.unban(quotaId, actor);
  }

  @Get('rate-limit')
  @QuotaId()
  @AdminRead({
    summary: 'Get the rate-limit status of a quota',
    description:
      'Returns the windows of a quota and its ban, if any, even if none of its keys is valid. ' +
      'It takes nothing from the windows.',
  })
  @Responses({ status: 200, schema: RateLimitStatus, description: 'The rate-limit status of the quota.' })
  getQuotaRateLimit(@Param('quotaId') quotaId: string): Promise<RateLimitStatus> {
    return this.quotas.findRateLimit(quotaId);
  }
}
