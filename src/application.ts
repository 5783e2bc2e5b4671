import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { AppFilter } from './app.filter.js';
import { AppModule } from './app.module.js';
import { isProtected, isProtectedPath } from './auth/protected-path.js';
import { Clock } from './clock.js';
import { tellLifecycles } from './deprecation/lifecycle.hook.js';
import { OperationRegistry } from './deprecation/operation-registry.js';
import type { Environment } from './environment.js';
import { ApiError } from './errors/api-error.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { refuseAmbiguity } from './http/ambiguity.hook.js';
import { ConcurrencyLimit } from './http/concurrency-limit.js';
import { Connections } from './http/connections.js';
import { answerConnect, answerParserError } from './http/parser-error.js';
import { parseJsonBody } from './http/json-body.js';
import { revalidate } from './http/revalidation.hook.js';
import { type Sharing, sharingWith } from './http/cors.js';
import { requestId } from './http/request-id.js';
import { logSendersTrace } from './http/trace-log.js';
import { RequestLog } from './http/request-log.js';
import { SECURITY_HEADERS } from './http/security-headers.js';
import { createLogger, nestLogger } from './logger.js';
import { headerNames } from './openapi/headers.js';
import { serveDocuments } from './openapi/documents.js';
import { AnsweredRequests } from './metrics/answered-requests.js';
import { traceRequests } from './tracing/tracing.js';
import { UsageRecorder } from './usage/usage.recorder.js';

const BODY_LIMIT_BYTES = 64 * 1024;
/** For all of a request to arrive; then it is 408. */
const REQUEST_TIMEOUT_MS = 30_000;
/** For its headers alone. Node takes the shorter of both for the headers, so this is never the longer. */
const HEADERS_TIMEOUT_MS = 20_000;
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;

/** Builds the service, ready to listen. */
export async function createApplication(
  environment: Environment,
  clock = new Clock(),
): Promise<NestFastifyApplication> {
  const logger = createLogger(environment);
  const requestLog = new RequestLog();
  const share = sharing(environment.CORS_ORIGINS);
  const adapter = new FastifyAdapter({
    loggerInstance: logger,
    logController: requestLog,
    genReqId: requestId,
    bodyLimit: BODY_LIMIT_BYTES,
    // What comes while the server closes is still answered in form, as long as its connection lives.
    return503OnClosing: false,
    clientErrorHandler: answerParserError,
    // Node would answer a missing Host by itself, without a body.
    http: {
      requireHostHeader: false,
      // Of two headers that must be one, Node would pass the first alone; so both are seen, and refused.
      joinDuplicateHeaders: true,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    },
    requestTimeout: REQUEST_TIMEOUT_MS,
    frameworkErrors: (fault: unknown, request: FastifyRequest, reply: FastifyReply) => {
      logSendersTrace(request);
      // No hook sees these.
      reply.raw.once('finish', () => requestLog.requestCompleted(null, request, reply));
      reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
      if (share(request, reply)) {
        return;
      }
      const refusal = app.get(Connections).refusal ?? fault;
      const answered = app.get(AppFilter).answer(refusal, request, reply);
      void answered.then(() => {
        app.get(UsageRecorder).record(request, reply);
        app.get(AnsweredRequests).record(request, reply);
      });
    },
    ...trustProxy(environment.TRUST_PROXY),
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
  fastify.decorateRequest('caller', null);
  fastify.decorateRequest('admission', null);
  fastify.decorateRequest('uncounted', false);
  fastify.decorateRequest('bodyBytes', null);
  fastify.decorateRequest('isServed', false);
  await traceRequests(fastify, environment);
  const connections = app.get(Connections);
  connections.watch(fastify.server);
  fastify.addHook('preClose', (done) => {
    connections.end();
    done();
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
    done();
  });
  refuseAmbiguity(fastify);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!share(request, reply)) {
      done(connections.refusal);
    }
  });
  // Behind the body: who is slow to send it takes no place.
  const concurrencyLimit = app.get(ConcurrencyLimit);
  fastify.addHook('preValidation', (request, reply, done) => {
    done(isProtected(request) ? concurrencyLimit.take(request, reply) : undefined);
  });
  // Before usage is recorded, which is told the status.
  revalidate(fastify);
  // Not onResponse, which never comes when the client has gone: what was counted is recorded, whether its answer arrived
  // or not.
  const usage = app.get(UsageRecorder);
  const answeredRequests = app.get(AnsweredRequests);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    usage.record(request, reply);
    answeredRequests.record(request, reply);
    done();
  });
  tellLifecycles(fastify);
  // An expectation that is not known may be ignored (RFC 9110, section 10.1.1); Node would answer 417 by itself.
  fastify.server.on('checkExpectation', (request, response) =>
    fastify.server.emit('request', request, response),
  );
  fastify.server.on('connect', answerConnect);
  // Node would leave out those past a number of them, such as a proxy's own; 16 KiB limit them all.
  fastify.server.maxHeadersCount = 0;
  const operations = new OperationRegistry();
  const allowedMethods = app.get(AllowedMethods);
  fastify.addHook('onRoute', (route) => {
    const { method, url, config } = route;
    if (isProtectedPath(url)) {
      operations.add(route);
    }
    // Nobody is told of what is not offered.
    if (config?.stability !== 'experimental' || environment.EXPERIMENTAL) {
      allowedMethods.add(method, url);
    }
  });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body as Buffer;
    try {
      // Many clients name the type where there is no body; whether one is needed the route says.
      done(null, body.length === 0 ? undefined : parseJsonBody(request.bodyBytes));
    } catch (error) {
      done(new ApiError('invalid_request', `The body is not JSON: ${(error as SyntaxError).message}.`));
    }
  });
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

/** Whoever may read an answer may read all headers of the document; `Allow` is on no operation's answer, so it does not tell of it. */
function sharing(origins: Environment['CORS_ORIGINS']): Sharing {
  return origins === undefined ? () => false : sharingWith(origins, [...headerNames(), 'Allow']);
}

/** Fastify's types know no number of hops; a function says the same: hop 0 is who connects to us. */
function trustProxy(setting: Environment['TRUST_PROXY']): Pick<FastifyServerOptions, 'trustProxy'> {
  if (setting === undefined) {
    return {};
  }
  return { trustProxy: typeof setting === 'number' ? (_address, hop) => hop < setting : setting };
}
