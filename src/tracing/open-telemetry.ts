import { Logger } from '@nestjs/common';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
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
import type { Environment } from '../settings/environment.js';
import { about } from '../openapi/about.js';
import { LoadSpans } from './load-spans.js';
import { RequestSpans } from './request-spans.js';

/** The maximum time to send a batch, retries included. A shutdown may wait that long. */
const EXPORT_TIMEOUT_MS = 3000;

const logger = new Logger('Traces');

function logLoss(error: unknown): void {
  logger.warn(`Spans were lost: ${error instanceof Error ? error.message : String(error)}`);
}

/** Creates the spans of this service and sends them to a collector. */
class Tracing {
  private readonly requests: RequestSpans;
  private readonly loads: LoadSpans;

  constructor(
    tracer: Tracer,
    environment: Environment,
    private readonly provider: BasicTracerProvider,
  ) {
    this.requests = new RequestSpans(tracer);
    this.loads = new LoadSpans(tracer, this.requests, environment);
  }

  traceRequests(fastify: FastifyInstance): void {
    this.requests.trace(fastify);
    this.loads.listen();
  }

  /** Sends the remaining spans. */
  async stop(): Promise<void> {
    this.loads.stop();
    await this.provider.shutdown().catch(logLoss);
  }
}

/** Starts tracing with the settings of `environment`. The SDK itself reads all other OTEL_* variables. */
export async function startTracing(environment: Environment): Promise<Tracing> {
  setGlobalErrorHandler(logLoss);
  diag.setLogger(
    {
      error: (message) => logger.warn(message),
      warn: (message) => logger.warn(message),
      info: (message) => logger.debug(message),
      debug: (message) => logger.debug(message),
      verbose: (message) => logger.debug(message),
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const service = resourceFromAttributes({
    'service.name': 'animal-store',
    'service.version': about.info.version,
    'deployment.environment.name': environment.APP_ENV,
  });
  const resource = defaultResource()
    .merge(service)
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(await createExporter(environment))],
  });
  return new Tracing(provider.getTracer('animal-store', about.info.version), environment, provider);
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
  return new OTLPTraceExporter({ timeoutMillis });
}
