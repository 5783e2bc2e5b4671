import { Controller, Get, Header } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import { Readiness } from './readiness.js';

const OK = { status: 'ok' };

/** Reports whether the process is alive, and whether it is ready for requests. Orchestrators and balancers have no key. */
@Controller()
export class ProbeController {
  constructor(private readonly readiness: Readiness) {}

  @Get('livez')
  livez(): typeof OK {
    return OK;
  }

  /** @throws ApiError `service_unavailable`. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async readyz(): Promise<typeof OK> {
    const { ready } = await this.readiness.check();
    if (!ready) {
      throw new ApiError('service_unavailable', 'Not ready.');
    }
    return OK;
  }
}
