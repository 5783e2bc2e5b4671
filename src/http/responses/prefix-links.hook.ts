import type { onRouteHookHandler, onSendHookHandler } from 'fastify';

/** Returns a hook that adds a prefix to the paths in `Link` and `Location` of all responses of a route. */
export function prefixLinks(prefix: string): onRouteHookHandler {
  const addPrefix: onSendHookHandler = (_request, reply, _payload, done) => {
    const { link, location } = reply.getHeaders();
    if (link !== undefined) {
      reply.header(
        'Link',
        String(link).replaceAll('</', () => `<${prefix}/`),
      );
    }
    if (location !== undefined) {
      reply.header('Location', `${prefix}${String(location)}`);
    }
    done();
  };
  return (route) => {
    route.onSend = [route.onSend ?? [], addPrefix].flat();
  };
}
