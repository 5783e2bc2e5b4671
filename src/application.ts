import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppHooks } from './app.hooks.js';
import { AppModule } from './app.module.js';
import { isProtectedPath } from './auth/protected-path.js';
import { Clock } from './clock.js';
import { OperationRegistry } from './deprecation/operation-registry.js';
import type { Environment } from './environment.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { Connections } from './http/connections.js';
import { readJsonBodies } from './http/json-body.parser.js';
import { RefusedConnections } from './http/refused-connections.js';
import { RequestLog } from './http/request-log.js';
import { leaveNothingToNode, serverOptions } from './http/server.js';
import { createLogger, nestLogger } from './logger.js';
import { serveDocuments } from './openapi/documents.js';

/** Builds the service, ready to listen. */
export async function createApplication(
  environment: Environment,
  clock = new Clock(),
): Promise<NestFastifyApplication> {
  const logger = createLogger(environment);
  const requestLog = new RequestLog();
  const adapter = new FastifyAdapter({
    ...serverOptions(environment),
    loggerInstance: logger,
    logController: requestLog,
    clientErrorHandler: (error, socket) => app.get(RefusedConnections).answer(error, socket),
    frameworkErrors: (fault: unknown, request: FastifyRequest, reply: FastifyReply) => {
      // Fastify logs no answer to these.
      reply.raw.once('finish', () => requestLog.requestCompleted(null, request, reply));
      app.get(AppHooks).answerUnrouted(fault, request, reply);
    },
    skipMiddie: true,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.register(environment, clock),
    adapter,
    {
      logger: nestLogger(logger),
      bodyParser: false,
      abortOnError: false,
      forceCloseConnections: false,
    },
  );
  const fastify = adapter.getInstance();
  leaveNothingToNode(fastify.server);
  app.get(Connections).watch(fastify);
  app.get(RefusedConnections).watch(fastify.server);
  await app.get(AppHooks).addTo(fastify);
  readJsonBodies(fastify);
  const operations = noteRoutes(fastify, app.get(AllowedMethods), environment);
  serveDocuments(app, environment);
  try {
    await app.init();
    operations.check();
  } catch (error) {
    // What was opened before would keep the process alive.
    await app.close();
    throw error;
  }
  return app;
}

/** Takes note of each route when it is registered: of what it declares, and of the method that its path answers. */
function noteRoutes(
  fastify: FastifyInstance,
  allowedMethods: AllowedMethods,
  { EXPERIMENTAL }: Environment,
): OperationRegistry {
  const operations = new OperationRegistry();
  fastify.addHook('onRoute', (route) => {
    const { method, url, config } = route;
    if (isProtectedPath(url)) {
      operations.add(route);
    }
    // Nobody is told of what is not offered.
    if (config?.stability !== 'experimental' || EXPERIMENTAL) {
      allowedMethods.add(method, url);
    }
  });
  return operations;
}
