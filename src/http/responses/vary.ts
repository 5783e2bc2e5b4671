import type { FastifyReply } from 'fastify';

/** Adds a request header to those that a response depends on (RFC 9110, section 12.5.5). */
export function addVary(reply: FastifyReply, header: string): void {
  reply.header('Vary', [reply.getHeader('Vary'), header].filter(Boolean).join(', '));
}
