import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether other methods of this path get 404 instead of 405, as the path exists for some clients only. */
    unlisted?: boolean;
  }
}

const HTML = /\btext\/html\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;

/** Redirects browsers from `/` to this page. Other clients get 404. */
export function redirectBrowsers(
  fastify: FastifyInstance,
  hooks: Pick<RouteShorthandOptions, 'onRequest'>,
  page: string,
): void {
  fastify.get('/', { ...hooks, config: { unlisted: true } }, (request, reply) => {
    reply.header('Vary', [reply.getHeader('Vary'), 'Accept'].filter(Boolean).join(', '));
    if (acceptsHtml(request)) {
      return reply.redirect(page);
    }
    reply.callNotFound();
    return reply;
  });
}

function acceptsHtml({ headers }: FastifyRequest): boolean {
  return HTML.test(headers.accept ?? '');
}
