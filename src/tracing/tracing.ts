import type { FastifyInstance } from 'fastify';
import type { Environment } from '../environment.js';
import { logSenderTrace } from '../http/trace-parent.js';

/**
 * Sends a span of each request to the configured collector, and adds its identifiers, else those of the sender's span, to the log.
 * Without a collector nothing of OpenTelemetry is loaded.
 */
export async function traceRequests(fastify: FastifyInstance, environment: Environment): Promise<void> {
  if (!isWanted(environment)) {
    fastify.addHook('onRequest', logSenderTrace);
    return;
  }
  const { startTracing } = await import('./open-telemetry.js');
  const tracing = await startTracing(environment);
  tracing.traceRequests(fastify);
  // After the last response.
  fastify.addHook('onClose', () => tracing.stop());
}

function isWanted(environment: Environment): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED } = environment;
  const endpoint = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && OTEL_SDK_DISABLED !== 'true';
}
