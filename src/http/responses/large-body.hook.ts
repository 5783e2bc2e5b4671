import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseHook } from './response-hook.js';

const LARGE_LENGTH = 16 * 1024;

/** Sends a large body as a `Buffer`, because Node keeps two copies of an unsent string. */
@Injectable()
export class LargeBodyHook implements ResponseHook {
  onSend(_request: FastifyRequest, _reply: FastifyReply, body: unknown): unknown {
    return typeof body === 'string' && body.length >= LARGE_LENGTH ? Buffer.from(body) : body;
  }
}
