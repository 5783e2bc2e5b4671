import { readFileSync } from 'node:fs';
import { type AgentOptions, globalAgent } from 'node:http';
import { Logger } from '@nestjs/common';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance } from 'fastify';
import type { Environment } from '../process/settings/environment.js';
import { farConnection } from '../http/connections/far-connection.js';
import { VERSION } from '../process/version.js';
import { addLoadSpans } from './load-spans.js';
import { addRequestSpans } from './request-spans.js';

/** The maximum time to send a batch, retries included. A shutdown may wait that long. */
const EXPORT_TIMEOUT_MS = 3000;

const EXPORTER = 'OTEL_EXPORTER_OTLP';
/** The variables that name files of TLS, by the option of an agent. */
const TLS_FILES = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' };

const logger = new Logger('Traces');

function logLoss(error: unknown): void {
  logger.warn(`Spans were lost: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Creates the spans of this service and sends them to a collector, with the settings of `environment`. The
 * SDK itself reads all other OTEL_* variables.
 */
export async function startTracing(fastify: FastifyInstance, environment: Environment): Promise<void> {
  setGlobalErrorHandler(logLoss);
  const warn = (message: string) => logger.warn(message);
  diag.setLogger(
    { error: warn, warn, info: warn, debug: warn, verbose: warn },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const service = resourceFromAttributes({
    'service.name': 'animal-store',
    'service.version': VERSION,
    'deployment.environment.name': environment.APP_ENV,
  });
  const resource = defaultResource()
    .merge(service)
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(await createExporter(environment))],
  });
  const tracer = provider.getTracer('animal-store', VERSION);
  const stopLoads = addLoadSpans(addRequestSpans(fastify, tracer), tracer, environment);
  // After the last response. Sends the remaining spans.
  fastify.addHook('onClose', async () => {
    stopLoads();
    await provider.shutdown().catch(logLoss);
  });
}

/** Returns the contents of the files of TLS, which the exporter reads for an agent of its own alone. */
function readTlsFiles(): Record<string, Buffer> {
  const contents: Record<string, Buffer> = {};
  for (const [option, name] of Object.entries(TLS_FILES)) {
    const file = process.env[`${EXPORTER}_TRACES_${name}`] || process.env[`${EXPORTER}_${name}`];
    try {
      Object.assign(contents, file && { [option]: readFileSync(file) });
    } catch {
      // The exporter reads it too, and warns.
    }
  }
  return contents;
}

async function createExporter(environment: Environment): Promise<SpanExporter> {
  const { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = environment;
  const { OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT } = process.env;
  const timeoutMillis = Number(
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT || OTEL_EXPORTER_OTLP_TIMEOUT || EXPORT_TIMEOUT_MS,
  );
  const protocol = OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? OTEL_EXPORTER_OTLP_PROTOCOL;
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  // Those of Node's own agent have the proxies of Node's settings. The timeout counts from the look-up on.
  const { options } = globalAgent as unknown as { options: AgentOptions };
  const httpAgentOptions = { ...options, ...farConnection(), ...readTlsFiles(), timeout: timeoutMillis };
  return new OTLPTraceExporter({ timeoutMillis, httpAgentOptions });
}
