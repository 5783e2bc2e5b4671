import { Controller, Get, Header } from '@nestjs/common';
import { AdminRead } from '../openapi/operation.decorator.js';
import { ApiError } from '../http/routes/api-error.js';
import { NeedsNoSchema } from '../http/routes/schema.hook.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { Health } from './health.schema.js';
import { Readiness } from './readiness.js';

const OK = { status: 'ok' };

/** Orchestrators and balancers have no key, so they learn only whether the process is alive and ready. */
@Tag('health', 'Whether a replica is ready for requests, and the state of its components.')
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('livez')
  livez(): typeof OK {
    return OK;
  }

  /** @throws ApiError `service_unavailable`. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async readyz(): Promise<typeof OK> {
    const { status } = await this.readiness.check();
    if (status !== 'ready') {
      throw new ApiError('service_unavailable', 'Not ready.');
    }
    return OK;
  }

  @Get('admin/health')
  @NeedsNoSchema()
  @AdminRead({
    summary: 'Get the health',
    description:
      'Returns whether the responding replica is ready for requests, and the state of its components. ' +
      'The status is 200 even if it is not ready.',
  })
  @Responses({ status: 200, schema: Health, description: 'The health of the replica.' })
  getHealth(): Promise<Health> {
    return this.readiness.check();
  }
}
