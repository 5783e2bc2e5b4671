import { All, Controller, NotFoundException, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { AllowedMethods } from './allowed-methods.js';
import { targetPath } from './request-line.js';
import { AddRouteConfig } from './route-config.decorator.js';

/** Handles requests without a route, behind the same guards as all others. Every route is more specific. */
@ApiExcludeController()
@Controller()
export class NotFoundController {
  constructor(private readonly allowedMethods: AllowedMethods) {}

  /** @throws NotFoundException; ApiError `method_not_allowed` if the path has other methods. */
  @All(['/v1', '/v1/*', '/admin', '/admin/*', '/*'])
  @AddRouteConfig({ isFallback: true })
  deny(@Req() { method, url, originalUrl }: FastifyRequest): never {
    const methods = this.allowedMethods.find(targetPath(url));
    if (methods.length === 0) {
      throw new NotFoundException();
    }
    const Allow = methods.join(', ');
    const message = `${targetPath(originalUrl)} does not allow ${method}. It allows ${Allow}.`;
    throw new ApiError('method_not_allowed', message, { headers: { Allow } });
  }
}
