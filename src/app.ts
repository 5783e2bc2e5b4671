import { METHODS } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppModule, RESPONSE_HOOKS } from './app.module.js';
import { AllowedMethods } from './http/routes/allowed-methods.js';
import { addLifecycleHeaders } from './deprecation/lifecycle-headers.hook.js';
import { startDeadline } from './database/access/request-deadline.js';
import { jsonWriter } from './schemas/json-writer.js';
import { Clock } from './process/clock.js';
import type { Environment } from './process/settings/environment.js';
import { publicPrefix } from './process/settings/public-prefix.js';
import { ApiKeyStrategy } from './auth/api-key.strategy.js';
import { setRequiredRole } from './auth/required-role.hook.js';
import { roleForPath } from './auth/rules/role.js';
import { allowOrigins } from './http/responses/cors.hook.js';
import { RequestBodyReader } from './http/connections/request-body-reader.js';
import { setRequestContext } from './http/connections/request-context.hook.js';
import { SchemaHook } from './http/routes/schema.hook.js';
import { ConcurrencyLimit } from './http/connections/concurrency-limit.js';
import { routableTarget } from './http/routes/request-line.js';
import { prefixLinks } from './http/responses/prefix-links.hook.js';
import type { ResponseHook } from './http/responses/response-hook.js';
import { traceRequests } from './observability/tracing.js';
import { Connections } from './http/connections/connections.js';
import { serverOptions } from './http/connections/server-options.js';
import { createLogger, nestLogger } from './observability/logger.js';
import { RequestLog } from './observability/request-log.js';
import { serveConsole } from './openapi/pages/console-page.js';
import { DocumentRateLimitHook } from './rate-limit/document-rate-limit.hook.js';
import { serveDocuments } from './openapi/documents.js';
import { documentEvents } from './webhooks/document-events.js';

/** What steps find out about a request for later ones. */
const REQUEST_PROPERTIES = [
  'statements',
  'authentication',
  'decision',
  'ownLimit',
  'pendingDecision',
  'failure',
  'requiredRole',
  'traceFields',
  'reportedWindow',
] as const;

export async function createApplication(
  environment: Environment,
  clock = new Clock(),
): Promise<NestFastifyApplication> {
  const logger = await createLogger(environment);
  const connections = new Connections(environment, logger);
  const adapter = new FastifyAdapter({
    ...serverOptions(environment, connections),
    rewriteUrl: ({ url = '/' }) => routableTarget(url, (path) => roleForPath(path) === null),
    loggerInstance: logger,
    logController: new RequestLog(),
    childLoggerFactory: () => logger,
    skipMiddie: true,
  });
  const module = AppModule.register(environment, clock, connections);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
    forceCloseConnections: false,
  });
  const fastify = adapter.getInstance();
  fastify.setSerializerCompiler(({ schema }) => jsonWriter(schema));
  decorateRequests(fastify, app.get(ApiKeyStrategy));
  routeAllMethods(fastify);
  await addRequestHooks(app, environment);
  addResponseHooks(app);
  addRouteHooks(app, environment);
  const { onRequest } = app.get(DocumentRateLimitHook);
  serveDocuments(app, environment, { onRequest }, documentEvents());
  serveConsole(fastify, { onRequest });
  try {
    await app.init();
  } catch (error) {
    // Otherwise open connections would keep the process alive.
    await app.close();
    throw error;
  }
  return app;
}

/** Adds the methods that Fastify does not route by default, so that `NotFoundController` handles them too. */
function routeAllMethods(fastify: FastifyInstance): void {
  const { supportedMethods } = fastify;
  const others = METHODS.filter((method) => !supportedMethods.includes(method));
  others.forEach((method) => fastify.addHttpMethod(method, { hasBody: true }));
}

/** Declares the properties of requests, so that all requests have one shape. */
function decorateRequests(fastify: FastifyInstance, strategy: ApiKeyStrategy): void {
  REQUEST_PROPERTIES.forEach((name) => fastify.decorateRequest(name, null));
  fastify.decorateRequest('isShed', false).decorateRequest('lastKnownPrincipal', {
    getter() {
      return strategy.lastKnownPrincipal(this);
    },
  });
}

/** Adds the steps of every request before the guards, in this order. */
async function addRequestHooks(app: NestFastifyApplication, environment: Environment): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', setRequiredRole);
  fastify.addHook('onRequest', setRequestContext);
  await traceRequests(fastify, environment);
  if (environment.CORS_ORIGINS !== undefined) {
    fastify.addHook('onRequest', allowOrigins(environment.CORS_ORIGINS));
  }
  app.get(RequestBodyReader).addTo(fastify);
  // Once the body has arrived:
  fastify.addHook('preValidation', app.get(SchemaHook).preValidation);
  fastify.addHook('preValidation', app.get(ConcurrencyLimit).preValidation);
  fastify.addHook('preValidation', startDeadline);
}

/** No hook is async, because its promise would keep the body of an unread response in memory. */
function addResponseHooks(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  for (const hook of RESPONSE_HOOKS.map((each): ResponseHook => app.get(each))) {
    fastify.addHook('onSend', (request, reply, body, done) => done(null, hook.onSend(request, reply, body)));
  }
}

function addRouteHooks(app: NestFastifyApplication, environment: Environment): void {
  const fastify = app.getHttpAdapter().getInstance();
  const prefix = publicPrefix(environment);
  fastify.addHook('onRoute', addLifecycleHeaders);
  if (prefix !== '') {
    fastify.addHook('onRoute', prefixLinks(prefix));
  }
  fastify.addHook('onRoute', (route) => app.get(AllowedMethods).addRoute(route));
}
