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
  /** The rest is for administrators alone. */
  parts?: HealthIndicatorResult;
  draining?: boolean;
}

/** For whoever runs the service: is the process alive, and may it be sent requests? */
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

  /** @throws ApiError `service_unavailable` that tells an administrator why. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async readyz(@Req() request: FastifyRequest): Promise<Health> {
    const [{ isReady, parts, isDraining, reasons }, isGranted] = await Promise.all([
      this.readiness.check(),
      this.access.isGranted(request),
    ]);
    if (!isReady) {
      throw new ApiError('service_unavailable', isGranted ? inWords(reasons, parts) : 'Not ready.');
    }
    return isGranted ? { status: 'ok', parts, draining: isDraining } : { status: 'ok' };
  }
}

/** An error has a message and no fourth field. */
function inWords(reasons: string[], parts: HealthIndicatorResult): string {
  const states = Object.entries(parts).map(([name, { status }]) => `${name} ${status}`);
  return `Not ready: ${reasons.join('; ')}. The parts: ${states.join(', ')}.`;
}
