import type { FastifyInstance } from 'fastify';
import type { Environment } from '../process/settings/environment.js';
import { isOff } from '../process/settings/open-telemetry.js';

/**
 * Sends a span of each request to the configured collector, and logs its trace and span identifiers. Without
 * a collector, OpenTelemetry's SDK is not loaded.
 */
export async function traceRequests(fastify: FastifyInstance, environment: Environment): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = environment;
  const endpoint = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint !== undefined && !isOff(environment)) {
    const { startTracing } = await import('./open-telemetry.js');
    await startTracing(fastify, environment);
  }
}
