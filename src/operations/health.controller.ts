import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService } from '@nestjs/terminus';
import { SkipThrottle } from '@nestjs/throttler';
import { Public } from '../auth/public.decorator.js';
import { ApiError } from '../errors/api-error.js';
import { DatabaseHealth } from './database.health.js';

interface Health {
  status: 'ok';
}

/** For whoever runs the service: is the process alive, and may it be sent requests? */
@Public()
@SkipThrottle()
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: DatabaseHealth,
  ) {}

  @Get('livez')
  livez(): Health {
    return { status: 'ok' };
  }

  /** @throws ApiError `service_unavailable` that says what is missing. */
  @Get('readyz')
  async readyz(): Promise<Health> {
    try {
      await this.health.check([() => this.database.check()]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) {
        throw error;
      }
      const { error: down } = error.getResponse() as { error: Record<string, { message: string }> };
      const reasons = Object.values(down).map(({ message }) => message);
      throw new ApiError('service_unavailable', `Not ready: ${reasons.join('; ')}.`, {
        headers: { 'Retry-After': '1' },
      });
    }
    return { status: 'ok' };
  }
}
