import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Registry } from 'prom-client';
import { ApiError } from '../errors/api-error.js';
import { inTurn } from '../server/pipelining.js';
import { RefusedConnections } from '../server/refused-connections.js';
import {
  leaveNothingToNode,
  NODE_OPTIONS,
  requestId,
  STANDSTILL_TIMEOUT_MS,
} from '../server/server-options.js';
import { UnsentResponses } from '../server/unsent-responses.js';
import { ENVIRONMENT, type Environment, InvalidEnvironmentError } from '../settings/environment.js';
import { ServiceMetrics } from './service-metrics.js';

const NOT_FOUND = new ApiError('not_found', 'Only /metrics is served here.');
const NOT_ALLOWED = new ApiError('method_not_allowed', '/metrics allows GET only.', {
  headers: { Allow: 'GET, HEAD' },
});
const FAILED = new ApiError('internal_error', 'The metrics could not be read.');

/**
 * Serves the metrics to Prometheus on a port of its own, without a key. It listens before the service does, and closes after the last
 * response of the service.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private server: Server | null = null;

  constructor(
    private readonly metrics: ServiceMetrics,
    private readonly refusedConnections: RefusedConnections,
    private readonly unsentResponses: UnsentResponses,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'HOST' | 'METRICS_PORT'>,
  ) {}

  /** The port it listens on; null without METRICS_PORT. */
  get port(): number | null {
    return (this.server?.address() as AddressInfo | null)?.port ?? null;
  }

  /** @throws InvalidEnvironmentError when METRICS_PORT cannot be listened on. */
  async onApplicationBootstrap(): Promise<void> {
    const { HOST, METRICS_PORT } = this.environment;
    if (METRICS_PORT === undefined) {
      return;
    }
    const server = this.createServer(await this.metrics.registry()).listen(METRICS_PORT, HOST);
    try {
      await once(server, 'listening');
    } catch (cause) {
      const reason = (cause as Error).message;
      throw new InvalidEnvironmentError(`METRICS_PORT ${METRICS_PORT} cannot be listened on: ${reason}`, {
        cause,
      });
    }
    this.server = server;
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.server !== null) {
      const closed = once(this.server, 'close');
      this.server.close();
      this.server.closeAllConnections();
      await closed;
    }
  }

  private createServer(registry: Registry): Server {
    const { refusedConnections } = this;
    const server = createServer(NODE_OPTIONS, (_request, response) =>
      inTurn(response, () => void this.respond(registry, response)),
    );
    server.on('clientError', (error, socket) => refusedConnections.respondTo(error, socket as Socket));
    server.setTimeout(STANDSTILL_TIMEOUT_MS);
    leaveNothingToNode(server);
    refusedConnections.watch(server);
    this.unsentResponses.watch(server);
    return server;
  }

  /** Never rejects. */
  private async respond(registry: Registry, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = response.req;
    response.setHeader('X-Request-Id', requestId(response.req));
    if (url.split('?', 1)[0] !== '/metrics') {
      sendError(response, NOT_FOUND);
    } else if (!['GET', 'HEAD'].includes(method)) {
      sendError(response, NOT_ALLOWED);
    } else {
      try {
        // Not a string, as Node keeps two copies of one that is unsent.
        const page = Buffer.from(await registry.metrics());
        response.writeHead(200, { 'Content-Type': registry.contentType }).end(page);
      } catch (error) {
        this.logger.error(error);
        sendError(response, FAILED);
      }
    }
  }
}

function sendError(response: ServerResponse, { status, headers, body }: ApiError): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
