import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppFilter } from './app.filter.js';
import { isProtected } from './auth/protected-path.js';
import { tellLifecycles } from './deprecation/lifecycle.hook.js';
import { ENVIRONMENT, type Environment } from './environment.js';
import { refuseAmbiguity } from './http/ambiguity.hook.js';
import { ConcurrencyLimit } from './http/concurrency-limit.js';
import { Connections } from './http/connections.js';
import { type Sharing, sharingWith } from './http/cors.js';
import { inTurn } from './http/pipelining.js';
import { revalidate } from './http/revalidation.hook.js';
import { SECURITY_HEADERS } from './http/security-headers.js';
import { logSendersTrace } from './http/trace-log.js';
import { AnsweredRequests } from './metrics/answered-requests.js';
import { headerNames } from './openapi/headers.js';
import { traceRequests } from './tracing/tracing.js';
import { UsageRecorder } from './usage/usage.recorder.js';

/** What every request passes around its route. */
@Injectable()
export class AppHooks {
  private readonly share: Sharing;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly connections: Connections,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly filter: AppFilter,
    private readonly usage: UsageRecorder,
    private readonly answeredRequests: AnsweredRequests,
  ) {
    this.share = sharing(environment.CORS_ORIGINS);
  }

  /** Adds the hooks, in the order of a request. */
  async addTo(fastify: FastifyInstance): Promise<void> {
    fastify.decorateRequest('caller', null);
    fastify.decorateRequest('admission', null);
    fastify.decorateRequest('uncounted', false);
    fastify.decorateRequest('place', undefined);
    fastify.addHook('onRequest', (_request, reply, done) => this.begin(reply, done));
    await traceRequests(fastify, this.environment);
    fastify.addHook('onRequest', (request, reply, done) => {
      nameAndSecure(request, reply);
      done();
    });
    refuseAmbiguity(fastify);
    fastify.addHook('onRequest', (request, reply, done) => {
      if (!this.share(request, reply)) {
        done();
      }
    });
    // Behind the body: who is slow to send it takes no place.
    fastify.addHook('preValidation', (request, reply, done) => {
      const overload = isProtected(request) ? this.concurrencyLimit.take(request, reply) : null;
      if (overload === null) {
        done();
      } else {
        this.filter.sendAway(overload, request, reply);
      }
    });
    // Before usage is recorded, which is told the status.
    revalidate(fastify);
    // Not onResponse, which never comes when the client has gone: what was counted is recorded, whether its answer arrived
    // or not.
    fastify.addHook('onSend', (request, reply, _payload, done) => {
      this.record(request, reply);
      done();
    });
    tellLifecycles(fastify);
  }

  /** Answers where the router itself refuses a path, which no hook sees: with the headers of all answers, and recorded like them. */
  answerUnrouted(fault: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.begin(reply, () => {
      logSendersTrace(request);
      nameAndSecure(request, reply);
      if (this.share(request, reply)) {
        return;
      }
      const answered = this.filter.answer(fault, request, reply);
      void answered.then(() => this.record(request, reply));
    });
  }

  private begin({ raw }: FastifyReply, go: () => void): void {
    inTurn(raw, () => {
      this.connections.closeIfLast(raw);
      go();
    });
  }

  private record(request: FastifyRequest, reply: FastifyReply): void {
    this.concurrencyLimit.noteAnswer(request);
    this.usage.record(request, reply);
    this.answeredRequests.record(request, reply);
  }
}

function nameAndSecure({ id }: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-Id', id).headers(SECURITY_HEADERS);
}

/** Whoever may read an answer may read all headers of the document; `Allow` is on no operation's answer, so it does not tell of it. */
function sharing(origins: Environment['CORS_ORIGINS']): Sharing {
  return origins === undefined ? () => false : sharingWith(origins, [...headerNames(), 'Allow']);
}
