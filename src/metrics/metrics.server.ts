import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Registry } from 'prom-client';
import { ENVIRONMENT, type Environment, InvalidEnvironmentError } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { inTurn } from '../server/pipelining.js';
import { RefusedConnections } from '../server/refused-connections.js';
import { requestId } from '../server/server-options.js';
import { leaveNothingToNode, NODE_OPTIONS, STANDSTILL_TIMEOUT_MS } from '../server/server-options.js';
import { UnsentResponses } from '../server/unsent-responses.js';
import { ServiceMetrics } from './service-metrics.js';

const PATH = '/metrics';

/**
 * Serves the metrics to Prometheus on a port of its own, without a key. It listens before the service does, and closes after the last
 * response of the service.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private server: Server | null = null;
  /** The rendering in progress, shared by all requests that arrive before it starts. */
  private page: Promise<Buffer> | null = null;

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
    const registry = await this.metrics.registry();
    this.server = createServer(NODE_OPTIONS, (request, response) =>
      inTurn(response, () => void this.respond(registry, request, response)),
    );
    this.server.on('clientError', (error, socket) =>
      this.refusedConnections.respondTo(error, socket as Socket),
    );
    this.server.setTimeout(STANDSTILL_TIMEOUT_MS);
    leaveNothingToNode(this.server);
    this.refusedConnections.watch(this.server);
    this.unsentResponses.watch(this.server);
    this.server.listen(METRICS_PORT, HOST);
    try {
      await once(this.server, 'listening');
    } catch (cause) {
      this.server = null;
      throw new InvalidEnvironmentError(
        `METRICS_PORT ${METRICS_PORT} cannot be listened on: ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.server !== null) {
      const closed = once(this.server, 'close');
      this.server.close();
      this.server.closeAllConnections();
      await closed;
    }
  }

  private async render(registry: Registry): Promise<Buffer> {
    await setImmediate();
    this.page = null;
    return Buffer.from(await registry.metrics());
  }

  /** Never rejects. */
  private async respond(
    registry: Registry,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { method, url = '' } = request;
    response.setHeader('X-Request-Id', requestId(request));
    if (url.split('?', 1)[0] !== PATH) {
      sendError(response, new ApiError('not_found', `Only ${PATH} is served here.`));
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      sendError(response, new ApiError('method_not_allowed', `${PATH} allows GET only.`, { headers }));
      return;
    }
    try {
      this.page ??= this.render(registry);
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(await this.page);
    } catch (error) {
      this.logger.error(error);
      sendError(response, new ApiError('internal_error', 'The metrics could not be read.'));
    }
  }
}

function sendError(response: ServerResponse, { status, headers, body }: ApiError): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
