import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseInterceptor } from '../http/hooks.js';

/** Adds `X-Api-Key-Expires` to responses of a key that expires. */
@Injectable()
export class KeyExpiryInterceptor implements ResponseInterceptor {
  intercept({ authentication }: FastifyRequest, reply: FastifyReply): void {
    const expiresAt = authentication?.principal?.expiresAt;
    if (expiresAt) {
      reply.header('X-Api-Key-Expires', expiresAt.toUTCString());
    }
  }
}
