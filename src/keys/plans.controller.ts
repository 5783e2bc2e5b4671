import { Body, Controller, Get, HttpStatus, Param, Put, Query, Res } from '@nestjs/common';
import { ApiConflictResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../audit/audit.js';
import { CurrentActor } from '../audit/current-actor.decorator.js';
import { AdminRead, AdminWrite } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { Plan, PlanQuery, SetPlanInput } from './plan.schemas.js';
import { PlanService } from './plan.service.js';

const PATH = '/admin/plans';

const PlanName = () =>
  ApiParam({
    name: 'plan',
    description: 'Name of the plan.',
    schema: { type: 'string', maxLength: PLAN_NAME_MAX_LENGTH, examples: ['free'] },
  });

@Tag('plans', 'Plans: the limits of the quotas on them.')
@Controller(PATH)
export class PlansController {
  constructor(private readonly plans: PlanService) {}

  @Get()
  @AdminRead({
    summary: 'List plans',
    description: 'Returns one page of the plans, in order of their names.',
  })
  @PageResponse(Plan, 'A page of plans.')
  listPlans(
    @Query({ schema: PlanQuery }) { limit, cursor }: PlanQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plan[]> {
    return respondWithPage(reply, this.plans.page(limit, cursor), PATH, { limit }, ({ name }) => name);
  }

  @Get(':plan')
  @PlanName()
  @AdminRead({
    summary: 'Get a plan',
    description: 'Returns a plan with its limits.',
  })
  @Responses({ status: 200, schema: Plan, description: 'The plan.' })
  getPlan(@Param('plan') name: string): Promise<Plan> {
    return this.plans.find(name);
  }

  @Put(':plan')
  @ApiConflictResponse()
  @PlanName()
  @AdminWrite({
    summary: 'Set a plan',
    description:
      'Sets the limits of a plan, and creates it if it does not exist. What the body leaves out stays; a ' +
      'new plan needs both limits. The limits apply within a second. `maxKeyLifetimeDays` bounds the ' +
      'expiry of keys that are issued or rotated from then on; existing keys keep theirs, even if their ' +
      'plan changes.',
  })
  @Responses({ status: 200, schema: Plan, description: 'The changed plan.' })
  @Responses({ status: 201, schema: Plan, description: 'The new plan.', headers: ['Location'] })
  async setPlan(
    @Param('plan') name: string,
    @Body({ schema: SetPlanInput }) input: SetPlanInput,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plan> {
    const { plan, created } = await this.plans.set(name, input, actor);
    if (created) {
      reply.status(HttpStatus.CREATED).header('Location', `${PATH}/${plan.name}`);
    }
    return plan;
  }
}
