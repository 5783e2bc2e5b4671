import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  GraphThresholdsStyleMode,
  type DataSourceRef,
  GraphThresholdsStyleConfigBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { parse } from 'yaml';

/** What a panel shows, and what to do about it. */
interface Panel {
  title: string;
  /** The question that the panel answers, and what to do then. */
  description: string;
  unit: string;
  /** Each query by the legend of its series. */
  queries: Record<string, string>;
  /** The value is bad from here on, or up to here. */
  bad?: { above: number } | { below: number };
  /** Shows the value of the whole time range as a number. */
  isNumber?: boolean;
}

const SOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };
const CHOSEN = 'namespace=~"$namespace", pod=~"$pod"';
/** The duration that pages of animals must not exceed: a bucket's boundary, as in the rules. */
const PAGE_SECONDS = 0.1;

interface Rule {
  record?: string;
  expr: string;
  labels?: { objective?: string };
}

const RULES = parse(
  readFileSync(path.join(import.meta.dirname, '..', 'prometheus', 'rules.yml'), 'utf8'),
) as { groups: { rules: Rule[] }[] };

/** Returns the share of good requests that the rules state. */
function objective(name: string): number {
  const rule = RULES.groups
    .flatMap(({ rules }) => rules)
    .find(({ record, labels }) => record === 'animal_store:objective' && labels?.objective === name);
  return Number(/^vector\((.*)\)$/.exec(rule?.expr ?? '')?.[1]);
}

/** A metric of the chosen replicas, with further matchers of labels. */
const metric = (name: string, ...matchers: string[]) => `${name}{${[CHOSEN, ...matchers].join(', ')}}`;
const own = (name: string, ...matchers: string[]) => metric(`animal_store_${name}`, ...matchers);
/** A metric that every Node service exports, restricted to ours. */
const ofNode = (name: string) => `${metric(name)} and on (job, instance) animal_store_build_info`;
const rate = (of: string) => `rate(${of}[$__rate_interval])`;
const sum = (of: string, ...labels: string[]) => `sum by (${labels.join(', ')}) (${of})`;
const max = (of: string, ...labels: string[]) => `max by (${labels.join(', ')}) (${of})`;

/** A series of the durations of requests; those of probes, documents and unknown paths have no operation. */
const requests = (part: 'count' | 'bucket', ...matchers: string[]) =>
  metric(`http_server_request_duration_seconds_${part}`, 'operation!~"none|"', ...matchers);
const SUNSET = 'deprecated_operation_sunset_timestamp_seconds';
const FAILED = 'http_response_status_code=~"5.."';
const PAGES = ['operation="listPets"', 'http_response_status_code=~"2..|304"'];
const quantile = (of: string, buckets: string, ...labels: string[]) =>
  `histogram_quantile(${of}, ${sum(rate(buckets), 'le', ...labels)})`;
const overRange = (of: string) => `sum(increase(${of}[$__range]))`;

const CLIENTS: Panel[] = [
  {
    title: 'Requests without a 5xx',
    description: 'Is the objective met? If not, stop releases until it is, and see which operation fails.',
    unit: 'percentunit',
    isNumber: true,
    queries: {
      share: `1 - ${overRange(requests('count', FAILED))} / ${overRange(requests('count'))}`,
    },
    bad: { below: objective('requests') },
  },
  {
    title: 'Pages of animals within 100 ms',
    description:
      'Is the objective met? If not, look for slow queries, a late event loop, or too few replicas.',
    unit: 'percentunit',
    isNumber: true,
    queries: {
      share:
        `${overRange(requests('bucket', ...PAGES, `le="${PAGE_SECONDS}"`))} / ` +
        overRange(requests('count', ...PAGES)),
    },
    bad: { below: objective('pages') },
  },
  {
    title: 'Requests by operation',
    description: 'Does an operation stop or surge? If one stops, check the load balancer and /readyz.',
    unit: 'reqps',
    queries: { '{{operation}}': sum(rate(requests('count')), 'operation') },
  },
  {
    title: 'Failed requests by operation',
    description: 'Which operation fails? The log contains the cause of each 5xx under its requestId.',
    unit: 'percentunit',
    queries: {
      '{{operation}}':
        `${sum(rate(requests('count', FAILED)), 'operation')} / ` + sum(rate(requests('count')), 'operation'),
    },
    bad: { above: 1 - objective('requests') },
  },
  {
    title: 'Responses by status',
    description:
      'What do clients get? Many 401 or 400: a client was released with a defect; write to its owner.',
    unit: 'reqps',
    queries: {
      '{{http_response_status_code}}': sum(rate(requests('count')), 'http_response_status_code'),
    },
  },
  {
    title: 'Slowest hundredth by operation',
    description: 'Which operation is slow? Compare with the duration of its queries below.',
    unit: 's',
    queries: { '{{operation}}': quantile('0.99', requests('bucket'), 'operation') },
    bad: { above: PAGE_SECONDS },
  },
  {
    title: 'Creations sent again',
    description:
      'Do clients repeat creations? Then responses come too late or not at all: look at latency and 5xx.',
    unit: 'reqps',
    queries: { replays: `sum(${rate(own('idempotent_replays_total'))})` },
  },
  {
    title: 'Connections ended without a request',
    description:
      'Does a client break a bound, or HTTP itself? Its address is in the log: block or inform it.',
    unit: 'reqps',
    queries: {
      'error {{status}}': sum(rate(own('connection_errors_total')), 'status'),
      'beyond {{reason}}': sum(rate(own('connections_closed_total')), 'reason'),
    },
  },
];

const LIMITS: Panel[] = [
  {
    title: 'Allowed requests by plan',
    description: 'Which plan uses the capacity? Add replicas before its growth does.',
    unit: 'reqps',
    queries: { '{{plan}}': sum(rate(own('rate_limit_allowed_total')), 'plan') },
  },
  {
    title: 'Denied requests by plan and window',
    description: 'Who needs a larger plan, or a corrected client? The log contains the key of each 429.',
    unit: 'reqps',
    queries: { '{{plan}}, {{reason}}': sum(rate(own('rate_limit_denied_total')), 'plan', 'reason') },
  },
  {
    title: 'Bans started by plan',
    description:
      'Do many clients ignore Retry-After at once? After a change of limits: undo it, and lift the bans.',
    unit: 'short',
    queries: { '{{plan}}': sum(`increase(${own('bans_started_total')}[$__rate_interval])`, 'plan') },
  },
  {
    title: 'Replicas that count locally',
    description: 'Are limits looser? Then bring the counter store back.',
    unit: 'short',
    queries: { '{{pod}}': sum(own('rate_limit_degraded'), 'pod') },
    bad: { above: 1 },
  },
  {
    title: 'Requests decided locally',
    description: 'How much may exceed the limits? Decide whether to wait or to stop the replicas.',
    unit: 'reqps',
    queries: { '{{pod}}': sum(rate(own('rate_limit_degraded_decisions_total')), 'pod') },
  },
  {
    title: 'Calls of deprecated operations',
    description: 'Is an operation still called? GET /admin/deprecations lists its clients: write to them.',
    unit: 'short',
    queries: { '{{operation}}': sum(`increase(${own('requests_deprecated_total')}[1h])`, 'operation') },
  },
  {
    title: 'Days until the removal',
    description: 'How much time is left to write to the clients of a deprecated operation?',
    unit: 'd',
    isNumber: true,
    queries: {
      '{{operation}}': `(${max(own(SUNSET), 'operation')} - time()) / 86400`,
    },
    bad: { below: 30 },
  },
  {
    title: 'Webhook deliveries',
    description: 'Did a delivery fail for good? Repair its receiver; the console lists what to send again.',
    unit: 'short',
    queries: {
      'attempts {{outcome}}': sum(`increase(${own('webhook_delivery_attempts_total')}[1h])`, 'outcome'),
      'deliveries failed': `sum(increase(${own('webhook_deliveries_failed_total')}[1h]))`,
    },
  },
];

const RESOURCES: Panel[] = [
  {
    title: 'Requests in flight in the fullest replica',
    description:
      'Is an operation near MAX_CONCURRENT_REQUESTS_PER_OPERATION? Find what it waits for, or add replicas.',
    unit: 'short',
    queries: { '{{operation}}': max(own('requests_in_flight'), 'operation') },
  },
  {
    title: 'Requests shed by overload',
    description: 'Which operation has no slot left? Add replicas, or find the slow query.',
    unit: 'reqps',
    queries: { '{{operation}}': sum(rate(own('requests_shed_total')), 'operation') },
  },
  {
    title: 'Delay of the event loop (p99)',
    description: 'Is a CPU saturated? Add replicas.',
    unit: 's',
    queries: { '{{pod}}': max(ofNode('nodejs_eventloop_lag_p99_seconds'), 'pod') },
    bad: { above: 0.1 },
  },
  {
    title: 'Memory',
    description: 'Does a replica approach its limit of 1 GB? Take a heap snapshot before it is killed.',
    unit: 'bytes',
    queries: { '{{pod}}': max(ofNode('process_resident_memory_bytes'), 'pod') },
    bad: { above: 900e6 },
  },
  {
    title: 'Pooled connections in use',
    description: 'Is a pool exhausted? Find the slow query; if there is none, raise DATABASE_POOL_SIZE.',
    unit: 'percentunit',
    queries: {
      '{{pool}} of {{pod}}':
        `${sum(own('database_connections', 'state="used"'), 'pool', 'pod')} / ` +
        sum(own('database_connections_max'), 'pool', 'pod'),
    },
    bad: { above: 0.9 },
  },
  {
    title: 'Queries that wait for a connection',
    description: 'Do requests wait for a connection? Find the slow query, or raise DATABASE_POOL_SIZE.',
    unit: 'short',
    queries: { '{{pool}} of {{pod}}': sum(own('database_queries_pending'), 'pool', 'pod') },
    bad: { above: 1 },
  },
  {
    title: 'Slowest hundredth of queries',
    description:
      'Which query is slow? Run deploy/watch.sql and EXPLAIN; `count-requests` is the counter store.',
    unit: 's',
    queries: { '{{query}}': quantile('0.99', own('query_duration_seconds_bucket'), 'query') },
  },
  {
    title: 'Requests in one batch',
    description: 'Do batches grow? Then the database is slower than its load: look at its CPU and locks.',
    unit: 'short',
    queries: {
      '{{query}}':
        `${sum(rate(own('query_batch_size_sum')), 'query')} / ` +
        sum(rate(own('query_batch_size_count')), 'query'),
    },
  },
  {
    title: 'Requests whose query failed',
    description: 'Which query fails? The log contains the reason.',
    unit: 'reqps',
    queries: { '{{query}}': sum(rate(own('query_requests_failed_total')), 'query') },
  },
  {
    title: 'Keys found in the cache',
    description: 'Are keys looked up in the database? Then changes of keys are not received: see the log.',
    unit: 'percentunit',
    queries: {
      '{{pod}}':
        `${sum(rate(own('api_key_cache_lookups_total', 'result="hit"')), 'pod')} / ` +
        sum(rate(own('api_key_cache_lookups_total')), 'pod'),
    },
  },
  {
    title: 'Usage not written yet',
    description:
      'Does it grow? From 50,000 on, usage of clients is lost: bring the database back before that.',
    unit: 'short',
    queries: {
      '{{pod}}': sum(own('usage_entries_queued'), 'pod'),
      'lost by {{pod}}': sum(`increase(${own('usage_requests_dropped_total')}[$__rate_interval])`, 'pod'),
    },
    bad: { above: 10_000 },
  },
];

/** Three panels beside each other. */
const SIZE = { width: 8, height: 8 };

function buildPanel({ title, description, unit, queries, bad, isNumber = false }: Panel) {
  // Otherwise 99.95 % would be shown as 100 %.
  const panel = (isNumber ? new StatBuilder().decimals(2) : timeseries(bad !== undefined))
    .title(title)
    .description(description)
    .datasource(SOURCE)
    .unit(unit)
    .span(SIZE.width)
    .height(SIZE.height)
    .targets(
      Object.entries(queries).map(([legend, expr], index) => buildQuery(legend, expr, index, isNumber)),
    );
  return bad === undefined ? panel : panel.thresholds(buildThresholds(bad));
}

function timeseries(hasThreshold: boolean): TimeseriesBuilder {
  const mode = hasThreshold ? GraphThresholdsStyleMode.Line : GraphThresholdsStyleMode.Off;
  return new TimeseriesBuilder()
    .min(0)
    .fillOpacity(10)
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(mode));
}

function buildQuery(legend: string, expr: string, index: number, isInstant: boolean): DataqueryBuilder {
  const query = new DataqueryBuilder()
    .expr(expr)
    .legendFormat(legend)
    .refId(String.fromCodePoint(65 + index));
  return isInstant ? query.instant() : query.range();
}

function buildThresholds(bad: NonNullable<Panel['bad']>): ThresholdsConfigBuilder {
  const [low, high, value] =
    'above' in bad ? (['green', 'red', bad.above] as const) : (['red', 'green', bad.below] as const);
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { color: low, value: null },
    { color: high, value },
  ]);
}

/** A variable that matches all values of a label, and no label, until some values are chosen. */
function buildVariable(label: string, source: string): QueryVariableBuilder {
  return new QueryVariableBuilder(label)
    .label(label)
    .datasource(SOURCE)
    .query(`label_values(${source}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true)
    .allValue('.*');
}

function buildDashboard() {
  const builder = new DashboardBuilder('Animal Store')
    .uid('animal-store')
    .tags(['animal-store'])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('data source').type('prometheus'))
    .withVariable(buildVariable('namespace', 'animal_store_build_info'))
    .withVariable(buildVariable('pod', 'animal_store_build_info{namespace=~"$namespace"}'));
  for (const [title, panels] of Object.entries({ Clients: CLIENTS, Limits: LIMITS, Resources: RESOURCES })) {
    builder.withRow(new RowBuilder(title));
    panels.forEach((panel) => builder.withPanel(buildPanel(panel)));
  }
  return builder.build();
}

/** The text of `animal-store.json`. `npm run dashboard` writes it. */
export const dashboard = `${JSON.stringify(buildDashboard(), null, 2)}\n`;

if (process.argv[1] === import.meta.filename) {
  writeFileSync(import.meta.filename.replace(/ts$/, 'json'), dashboard);
}
