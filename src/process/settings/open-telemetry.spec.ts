import { readEnvironment } from './environment.js';
import { ignoreUnusable, isOff } from './open-telemetry.js';

/** Returns what is left of the variables, and the warnings. */
function read(variables: Record<string, string>) {
  const [left, warnings] = [{ ...variables }, [] as string[]];
  ignoreUnusable(left, warnings);
  return { left, warnings };
}

describe('ignoreUnusable', () => {
  it.each([
    ['OTEL_SDK_DISABLED', 'True', 'true'],
    ['OTEL_SDK_DISABLED', ' FALSE ', 'false'],
    ['OTEL_TRACES_EXPORTER', 'None', 'none'],
    ['OTEL_PROPAGATORS', 'tracecontext,baggage', 'tracecontext,baggage'],
    ['OTEL_TRACES_SAMPLER', 'ParentBased_TraceIdRatio', 'parentbased_traceidratio'],
    ['OTEL_TRACES_SAMPLER_ARG', '0.01', '0.01'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'HTTP/JSON', 'http/json'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'GZIP', 'gzip'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://Collector:4318', 'http://Collector:4318'],
    ['OTEL_BSP_SCHEDULE_DELAY', '0', '0'],
    ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', '0', '0'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=B', 'a=B'],
    ['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', '1', '1'],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'Authorization=Basic%20YQ==;b, x-c=d,',
      'Authorization=Basic%20YQ==;b, x-c=d,',
    ],
    ['OTEL_EXPORTER_OTLP_INSECURE', 'yes', 'yes'],
  ])('leaves %s "%s" as "%s", without a warning', (name, value, left) => {
    expect(read({ [name]: value })).toEqual({ left: { [name]: left }, warnings: [] });
  });

  const [NATURAL, ADDRESS] = ['must be a whole number from 1 to 2147483647', 'must be an http(s) address'];
  const HEADER = 'has an entry that is not a header';
  it.each([
    ['OTEL_SDK_DISABLED', 'yes', 'must be true or false'],
    ['OTEL_CONFIG_FILE', '/etc/otel.yaml', 'is not supported'],
    ['OTEL_PROPAGATORS', 'b3', 'must be tracecontext or tracecontext,baggage'],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be otlp or none'],
    ['OTEL_METRICS_EXPORTER', 'otlp', 'must be prometheus or none'],
    ['OTEL_LOGS_EXPORTER', 'otlp', 'must be console or none'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'must be a number from 0 to 1'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'user:password@collector:4317', ADDRESS],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector', ADDRESS],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'udp', 'must be http/protobuf, http/json or grpc'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'must be none or gzip'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', NATURAL],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '0', NATURAL],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0', NATURAL],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '1e99', NATURAL],
    ['OTEL_BSP_EXPORT_TIMEOUT', '2147483648', NATURAL],
    ['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', '0', NATURAL],
    ['OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', '0', NATURAL],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'bad header=x', HEADER],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'Authorization: Bearer a', HEADER],
  ])('removes %s "%s" with one warning that it %s', (name, value, fault) => {
    expect(read({ [name]: value })).toEqual({ left: {}, warnings: [`${name} ${fault}, so it is ignored.`] });
    // The commands of the terminal read the same variables.
    expect(readEnvironment({ [name]: value })).toEqual(readEnvironment({}));
  });

  it.each(['bad header=x', 'a%0A=x', 'a=x%0Ay', 'a=\u{1F408}', 'a=%', '=x'])(
    'removes "%s" from the headers for the collector, with one warning, but no other entry',
    (entry) => {
      const [name, others] = ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=secret,x-tenant=7'];
      const warning = `${name} ${HEADER}, so it is ignored.`;
      expect(read({ [name]: `${entry},${others}` })).toEqual({
        left: { [name]: others },
        warnings: [warning],
      });
      expect(read({ [name]: `${others},${entry},${entry}` })).toEqual({
        left: { [name]: others },
        warnings: [warning],
      });
    },
  );

  it('removes an empty variable without a warning', () => {
    expect(read({ OTEL_SDK_DISABLED: '', OTEL_BSP_MAX_QUEUE_SIZE: ' ' })).toEqual({ left: {}, warnings: [] });
  });

  it('has no spans sent by gRPC, with a warning, unless the protocol of traces is another one', () => {
    const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { left, warnings } = read(grpc);
    expect(isOff(left)).toBe(true);
    expect(warnings).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which is not supported, so no spans are sent: set ' +
        'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf.',
    ]);
    const traces = read({ ...grpc, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' });
    expect([isOff(traces.left), traces.warnings]).toEqual([false, []]);
    expect(read({ ...grpc, OTEL_SDK_DISABLED: 'true' }).warnings).toStrictEqual([]);
  });
});
