import { Controller, Get, Header, Req } from '@nestjs/common';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Public } from '../auth/public.decorator.js';
import { ApiError } from '../errors/api-error.js';
import { DetailsAccess } from './details-access.js';
import { Readiness } from './readiness.js';

interface Health {
  status: 'ok';
  /** This and the next field are for administrators only. */
  parts?: HealthIndicatorResult;
  draining?: boolean;
}

/** Reports whether the process is alive, and whether it is ready for requests. */
@Public()
@SkipThrottle()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly access: DetailsAccess,
  ) {}

  @Get('livez')
  livez(): Health {
    return { status: 'ok' };
  }

  /** @throws ApiError `service_unavailable`, with the reasons if an administrator requests it. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async readyz(@Req() request: FastifyRequest): Promise<Health> {
    const [{ isReady, parts, isDraining, reasons }, isAllowed] = await Promise.all([
      this.readiness.check(),
      this.access.isAllowed(request),
    ]);
    if (!isReady) {
      throw new ApiError('service_unavailable', isAllowed ? notReadyMessage(reasons, parts) : 'Not ready.');
    }
    return isAllowed ? { status: 'ok', parts, draining: isDraining } : { status: 'ok' };
  }
}

/** Returns all details as a message, as an error has no fourth field. */
function notReadyMessage(reasons: string[], parts: HealthIndicatorResult): string {
  const states = Object.entries(parts).map(([name, { status }]) => `${name} ${status}`);
  return `Not ready: ${reasons.join('; ')}. The parts: ${states.join(', ')}.`;
}
