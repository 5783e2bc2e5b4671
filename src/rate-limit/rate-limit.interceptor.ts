import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { rateLimitHeaders } from './headers.js';

/** Tells the numbers of the request's admission on what its handler answers. */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const admission = await http.getRequest<FastifyRequest>().admission;
    if (admission !== null) {
      http.getResponse<FastifyReply>().headers(rateLimitHeaders(admission));
    }
    return next.handle();
  }
}
