import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { wholeNumber } from './setting-types.js';

/** The largest number that every SDK of OpenTelemetry accepts. */
const MAX = 2 ** 31 - 1;

const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });
/** Words are case-insensitive. */
const oneOf = (...words: [string, ...string[]]) =>
  z
    .string()
    .toLowerCase()
    .pipe(z.enum(words, { error: `must be ${LIST.format(words)}` }));
const isShare = (text: string) => Number(text) >= 0 && Number(text) <= 1;
/** Messages omit it, because it may contain a password. */
const collector = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' });
const [protocol, compression] = [oneOf('http/protobuf', 'http/json', 'grpc'), oneOf('none', 'gzip')];
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

/** Whether the SDK can send an entry, or ignores it. It decodes both parts until a semicolon. */
function isHeader(entry: string): boolean {
  const [name = '', ...value] = (entry.split(';')[0] ?? '').split('=').map((part) => part.trim());
  try {
    validateHeaderName(decodeURIComponent(name));
    validateHeaderValue(name, decodeURIComponent(value.join('=')));
    return true;
  } catch {
    return entry.trim() === '';
  }
}
/** Messages omit it, because it may contain a password. */
const headers = z.string().refine(isHeader, 'has an entry that is not a header');

/**
 * The variables that the service or its SDK reads, and those that request what the service cannot do. The SDK
 * itself ignores malformed values of all others.
 */
const VARIABLES: Record<string, z.ZodType<string | number, string>> = {
  OTEL_SDK_DISABLED: oneOf('true', 'false'),
  OTEL_CONFIG_FILE: z.never({ error: 'is not supported' }),
  OTEL_PROPAGATORS: oneOf('tracecontext', 'tracecontext,baggage'),
  OTEL_TRACES_EXPORTER: oneOf('otlp', 'none'),
  OTEL_METRICS_EXPORTER: oneOf('prometheus', 'none'),
  OTEL_LOGS_EXPORTER: oneOf('console', 'none'),
  OTEL_TRACES_SAMPLER: oneOf(...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}`)),
  OTEL_TRACES_SAMPLER_ARG: z.string().refine(isShare, 'must be a number from 0 to 1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, MAX),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: wholeNumber(1, MAX),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(0, MAX),
  OTEL_BSP_EXPORT_TIMEOUT: wholeNumber(1, MAX),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, MAX),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(1, MAX),
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: wholeNumber(1, MAX),
  OTEL_ATTRIBUTE_COUNT_LIMIT: wholeNumber(0, MAX),
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: wholeNumber(1, MAX),
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: wholeNumber(0, MAX),
  OTEL_SPAN_EVENT_COUNT_LIMIT: wholeNumber(0, MAX),
  OTEL_SPAN_LINK_COUNT_LIMIT: wholeNumber(0, MAX),
};

/**
 * Removes the variables of OpenTelemetry that are invalid or request what the service lacks, because they may
 * be set for a whole cluster and must not stop it (OpenTelemetry's specification of environment variables).
 *
 * @param variables gets words in lower case. Those of the process are changed: the SDK reads them too.
 * @param warnings gets a line for each removed variable, and for headers that lose an entry.
 */
export function ignoreUnusable(variables: NodeJS.ProcessEnv, warnings: string[]): void {
  for (const [name, type] of Object.entries(VARIABLES)) {
    const text = variables[name]?.trim() ?? '';
    const results = (type === headers ? text.split(',') : [text]).map((part) => type.safeParse(part));
    const usable = results.flatMap(({ success, data }) => (success ? [data] : [])).join(',');
    if (usable === '') {
      delete variables[name];
    } else {
      variables[name] = usable;
    }
    const error = results.find(({ success }) => !success)?.error;
    if (text !== '' && error) {
      warnings.push(`${name} ${error.issues[0]?.message}, so it is ignored.`);
    }
  }
  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const effective = names.find((name) => variables[name] !== undefined);
  if (effective !== undefined && variables[effective] === 'grpc' && !isOff(variables)) {
    variables['OTEL_TRACES_EXPORTER'] = 'none';
    warnings.push(
      `${effective} is grpc, which is not supported, so no spans are sent: set ${names[0]}=http/protobuf.`,
    );
  }
}

/** Returns whether no spans are to be sent. */
export function isOff(
  variables: Partial<Record<'OTEL_SDK_DISABLED' | 'OTEL_TRACES_EXPORTER', string | undefined>>,
): boolean {
  return variables.OTEL_SDK_DISABLED === 'true' || variables.OTEL_TRACES_EXPORTER === 'none';
}
