import type { FastifyInstance } from 'fastify';
import type { Environment } from '../environment.js';
import { logSendersTrace } from '../http/trace-parent.js';

/**
 * Has each request leave its trace: as spans, where a collector is named that they are sent to; and in the log, also where
 * only its sender traces it. Without a collector nothing of OpenTelemetry is loaded.
 */
export async function traceRequests(fastify: FastifyInstance, environment: Environment): Promise<void> {
  if (!isWanted(environment)) {
    fastify.addHook('onRequest', (request, _reply, done) => {
      logSendersTrace(request);
      done();
    });
    return;
  }
  const { startTracing } = await import('./open-telemetry.js');
  const tracing = await startTracing(environment);
  tracing.traceRequests(fastify);
  // When every answer is sent.
  fastify.addHook('onClose', () => tracing.stop());
}

function isWanted(environment: Environment): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED } = environment;
  const endpoint = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && OTEL_SDK_DISABLED !== 'true';
}
