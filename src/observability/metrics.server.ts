import type { AddressInfo } from 'node:net';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type FastifyInstance, type FastifyReply, fastify as createFastify } from 'fastify';
import type { Registry } from 'prom-client';
import { ApiError } from '../http/routes/api-error.js';
import { targetPath } from '../http/routes/request-line.js';
import { Connections } from '../http/connections/connections.js';
import { listenOn } from '../http/connections/listen.js';
import { serverOptions } from '../http/connections/server-options.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { VERSION } from '../process/version.js';
import { standardOutput } from '../process/standard-stream.js';
import { MetricsRegistry, type MetricsSource } from '../process/metrics-registry.js';

const NOT_FOUND = new ApiError('not_found', 'Only /metrics is served here.');
const NOT_ALLOWED = new ApiError('method_not_allowed', '/metrics allows GET only.', {
  headers: { Allow: 'GET, HEAD' },
});
const FAILED = new ApiError('internal_error', 'The metrics could not be read.');

/**
 * Serves the metrics to Prometheus on a port of its own, without a key. It listens before the service does,
 * and closes after the last response of the service.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private server: FastifyInstance | null = null;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly connections: Connections,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'HOST' | 'METRICS_PORT' | 'TRUST_PROXY'>,
  ) {}

  /** Null without METRICS_PORT. */
  get port(): number | null {
    return (this.server?.server.address() as AddressInfo | null)?.port ?? null;
  }

  /** @throws OperatorError if METRICS_PORT cannot be listened on. */
  async onApplicationBootstrap(): Promise<void> {
    const { HOST, METRICS_PORT } = this.environment;
    if (METRICS_PORT === undefined) {
      return;
    }
    const fastify = this.createServer(collectMetrics(this.discovery));
    this.server = fastify;
    const place = { host: HOST, port: METRICS_PORT, setting: 'METRICS_PORT' } as const;
    await listenOn(fastify.server, place, (host) => fastify.listen({ port: METRICS_PORT, host }));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }

  private createServer(registry: Registry): FastifyInstance {
    const fastify = createFastify({
      ...serverOptions(this.environment, this.connections),
      forceCloseConnections: true,
    });
    // Fastify then reads the body of no request, whatever its method.
    fastify.supportedMethods.forEach((method) => fastify.addHttpMethod(method, { overrideExisting: true }));
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header('X-Request-Id', request.id);
      done();
    });
    fastify.get('/metrics', async (_request, reply) =>
      // A `Buffer`, because Node keeps two copies of an unsent string.
      reply.type(registry.contentType).send(Buffer.from(await registry.metrics())),
    );
    fastify.setNotFoundHandler(({ url }, reply) =>
      sendError(reply, targetPath(url) === '/metrics' ? NOT_ALLOWED : NOT_FOUND),
    );
    fastify.setErrorHandler((error, _request, reply) => {
      this.logger.error(error);
      return sendError(reply, FAILED);
    });
    return fastify;
  }
}

/**
 * Returns the metrics of the process, and of every provider that has some.
 *
 * @public `dev/names.js` lists them.
 */
export function collectMetrics(discovery: DiscoveryService): Registry {
  const metrics = new MetricsRegistry();
  metrics.counter('log_lines_dropped_total', 'Lines of the log that were dropped.', [], () => [
    [standardOutput.dropped],
  ]);
  metrics.gauge('build_info', 'Always 1.', ['version'], () => [[1, VERSION]]);
  const instances = discovery.getProviders().map(({ instance }): unknown => instance);
  // A provider of several modules is found in each.
  new Set(instances.filter(isMetricsSource)).forEach((source) => source.addMetrics(metrics));
  return metrics.registry;
}

function isMetricsSource(provider: unknown): provider is MetricsSource {
  return typeof (provider as Partial<MetricsSource> | null)?.addMetrics === 'function';
}

function sendError(reply: FastifyReply, { status, headers, body }: ApiError): FastifyReply {
  return reply.status(status).headers(headers).send(body);
}
