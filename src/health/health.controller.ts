import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../deprecation/operation.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Health } from './health.schema.js';
import { Readiness } from './readiness.js';

@ApiTags('health')
@Controller('/admin/health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get()
  @Operation(
    'stable',
    'Get the health',
    'Returns whether the responding replica is ready for requests, and the state of its parts. The status is 200 even if it is not ready.',
  )
  @Responses({ status: 200, schema: Health, description: 'The health of the replica.' })
  getHealth(): Promise<Health> {
    return this.readiness.check();
  }
}
