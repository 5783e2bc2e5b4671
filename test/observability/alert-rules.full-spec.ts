import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { describeOnPrometheus, promtool } from '../support/programs/prometheus-server.js';

const ROOT = path.join(__dirname, '..', '..');
const RULES = path.join(ROOT, 'deploy', 'prometheus', 'rules.yml');

interface Rule {
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] };
const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);

/** What replicas export, minute by minute, in the notation of promtool: `0+5x60` grows by 5 a minute for an hour. */
type Series = Record<string, string>;

interface Case {
  series: Series;
  /** When the alerts are read, after the start of the series. */
  at: string;
  /** The severity of the alert that fires; none if nothing does. */
  fires?: 'page' | 'ticket';
  when: string;
}

const REPLICA = 'job="animal-store", instance="a:9464", namespace="shop", pod="animal-store-0"';
const own = (name: string, ...labels: string[]) => `animal_store_${name}{${[REPLICA, ...labels].join(', ')}}`;

/** A hundred requests a minute, of which these are bad: none for five hours, then so many for an hour, or only until ten minutes ago. */
const recently = (bad: number, minutes = 60) => [
  `0+100x300 30000+${100 - bad}x${minutes} ${30_000 + (100 - bad) * minutes}+100x60`,
  `0x300 0+${bad}x${minutes} ${bad * minutes}x60`,
];
/** So many requests a minute for seven hours, of which this percentage is bad. */
const always = (percent: number, perMinute = 100) => [
  `0+${perMinute * (1 - percent / 100)}x420`,
  `0+${perMinute * (percent / 100)}x420`,
];

/** Requests of which some get 503, and a probe that always does. */
function failing([good = '', bad = '']: string[]): Series {
  const count = (operation: string, status: number) =>
    `http_server_request_duration_seconds_count{${REPLICA}, operation="${operation}", http_response_status_code="${status}"}`;
  return {
    [count('createPet', 201)]: good,
    [count('createPet', 503)]: bad,
    [count('none', 503)]: '0+1000x420',
  };
}

/** Pages of which some take longer than 100 ms: those of another replica. */
function slow([fast = '', late = '']: string[]): Series {
  const series = (part: string, replica: string, le: string) =>
    `http_server_request_duration_seconds_${part}{job="animal-store", instance="${replica}", namespace="shop", operation="listPets", http_response_status_code="200"${le}}`;
  return {
    [series('count', 'a', '')]: fast,
    [series('bucket', 'a', ', le="0.1"')]: fast,
    [series('count', 'b', '')]: late,
    [series('bucket', 'b', ', le="0.1"')]: '0x420',
  };
}

/** The probes of two replicas each minute: all of one, and those of the other, are not ready from the tenth minute on. */
function unready(other: 'ready' | 'unready'): Series {
  const probes = (replica: string, status: number) =>
    `http_server_request_duration_seconds_count{job="animal-store", instance="${replica}", namespace="shop", http_route="/readyz", operation="none", http_response_status_code="${status}"}`;
  const [ready, not] = ['0+12x10 120x20', '0x10 12+12x20'];
  return {
    [probes('a', 200)]: ready,
    [probes('a', 503)]: not,
    [probes('b', 200)]: other === 'ready' ? '0+12x30' : ready,
    [probes('b', 503)]: other === 'ready' ? '0x30' : not,
  };
}

/** The cases of an objective that allows this percentage of bad requests. */
const burning = (series: (counts: string[]) => Series, percent: number): Case[] => [
  {
    when: '16 times too many are bad for an hour',
    series: series(recently(percent * 16)),
    at: '6h',
    fires: 'page',
  },
  { when: '14 times too many are', series: series(recently(percent * 14)), at: '6h', fires: 'ticket' },
  {
    when: '16 times too many were, until ten minutes ago',
    series: series(recently(percent * 16, 50)),
    at: '6h',
    fires: 'ticket',
  },
  {
    when: '6.5 times too many are bad for six hours',
    series: series(always(percent * 6.5)),
    at: '7h',
    fires: 'page',
  },
  { when: '5.5 times too many are', series: series(always(percent * 5.5)), at: '7h', fires: 'ticket' },
  {
    when: '1.2 times too many are bad for long',
    series: series(always(percent * 1.2)),
    at: '7h',
    fires: 'ticket',
  },
  { when: '0.8 times as many are', series: series(always(percent * 0.8)), at: '7h' },
  { when: 'all are bad, seven of them a minute', series: series(always(100, 7)), at: '2h', fires: 'page' },
  { when: 'all are bad, five of them a minute', series: series(always(100, 5)), at: '2h' },
];

const ticket = 'ticket' as const;
const LAG = `nodejs_eventloop_lag_p99_seconds{${REPLICA}}`;
const USAGE = own('usage_queued_entries');
const DROPPED = own('usage_dropped_requests_total');
const CALLS = own('deprecated_requests_total', 'operation="getPet"');
const REMOVAL = own('deprecated_removal_timestamp_seconds', 'operation="getPet"');
/** The removal of an operation so many days after the start. */
const removal = (days: number) => `${days * 86_400}x30`;

const CASES: Record<string, Case[]> = {
  AnimalStoreRequestsFail: [
    ...burning(failing, 0.1),
    { when: 'no replica is ready', series: unready('unready'), at: '14m', fires: 'page' },
    { when: 'one of two is', series: unready('ready'), at: '14m' },
  ],
  AnimalStorePagesSlow: burning(slow, 1),
  AnimalStoreCountsLocally: [
    {
      when: 'it lasts',
      series: { [own('rate_limit_breaker_state', 'state="open"')]: '0 1x9' },
      at: '2m',
      fires: ticket,
    },
    {
      when: 'it ends within a minute',
      series: { [own('rate_limit_breaker_state', 'state="open"')]: '0 1 0x9' },
      at: '2m',
    },
  ],
  AnimalStoreKeyCacheNotCurrent: [
    { when: 'it lasts', series: { [own('api_key_cache_current')]: '1 0x9' }, at: '2m', fires: ticket },
    { when: 'it ends within a minute', series: { [own('api_key_cache_current')]: '1 0 1x9' }, at: '2m' },
  ],
  AnimalStoreQueriesPending: [
    {
      when: 'one waits for a minute',
      series: { [own('database_pending_queries', 'pool="queries"')]: '0 1x9' },
      at: '2m',
      fires: ticket,
    },
    {
      when: 'many wait for less',
      series: { [own('database_pending_queries', 'pool="queries"')]: '0 90 0x9' },
      at: '2m',
    },
  ],
  AnimalStoreShedsRequests: [
    {
      when: 'eleven are shed within five minutes',
      series: { [own('shed_requests_total', 'operation="listPets"')]: '0x9 11x9' },
      at: '12m',
      fires: ticket,
    },
    {
      when: 'six are',
      series: { [own('shed_requests_total', 'operation="listPets"')]: '0x9 6x9' },
      at: '12m',
    },
  ],
  AnimalStoreUsageDropped: [
    {
      when: 'a request is dropped',
      series: { [DROPPED]: '0x9 1x9', [USAGE]: '0x19' },
      at: '12m',
      fires: ticket,
    },
    {
      when: 'more than 10,000 entries are queued',
      series: { [DROPPED]: '0x19', [USAGE]: '10001x19' },
      at: '12m',
      fires: ticket,
    },
    {
      when: '10,000 entries are queued, and none is dropped',
      series: { [DROPPED]: '7x19', [USAGE]: '10000x19' },
      at: '12m',
    },
  ],
  AnimalStoreEventLoopLate: [
    {
      when: 'it is late for five minutes',
      series: { [LAG]: '0 0.11x9', [own('build_info')]: '1x9' },
      at: '6m',
      fires: ticket,
    },
    { when: 'it is late for four', series: { [LAG]: '0 0.11x3 0x9', [own('build_info')]: '1x9' }, at: '6m' },
    { when: 'another service of Node is', series: { [LAG]: '0 0.11x9' }, at: '6m' },
  ],
  AnimalStoreBansSurge: [
    {
      when: 'twelve start within ten minutes',
      series: { [own('bans_started_total', 'plan="free"')]: '0x9 12x9' },
      at: '15m',
      fires: ticket,
    },
    { when: 'eight do', series: { [own('bans_started_total', 'plan="free"')]: '0x9 8x9' }, at: '15m' },
  ],
  AnimalStoreDeprecatedOperationCalled: [
    {
      when: 'it is called 29 days before',
      series: { [CALLS]: '0x9 1x20', [REMOVAL]: removal(29) },
      at: '20m',
      fires: ticket,
    },
    {
      when: 'it is called 31 days before',
      series: { [CALLS]: '0x9 1x20', [REMOVAL]: removal(31) },
      at: '20m',
    },
    {
      when: 'it was removed a day ago',
      series: { [CALLS]: '0x9 1x20', [REMOVAL]: removal(-1) },
      at: '20m',
    },
    { when: 'it is not called', series: { [CALLS]: '5x30', [REMOVAL]: removal(29) }, at: '20m' },
  ],
};

/** Runs the rules on these series. @throws Error with what promtool expected. */
async function testRules({ series, at, fires }: Case, alert: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'animal-store-rules-'));
  const file = path.join(folder, 'test.yml');
  const expected = fires === undefined ? [] : [{ labels: `{severity="${fires}"}`, value: 1 }];
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count by (severity) (ALERTS{alertname="${alert}", alertstate="firing", namespace="shop"})`,
        eval_time: at,
        exp_samples: expected,
      },
    ],
  };
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [test] }));
  try {
    await promtool('test', 'rules', file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('deploy/prometheus/rules.yml', () => {
  it('has at most ten alerts, each with a summary, a description and a section of docs/runbooks.md', () => {
    expect(alerts.length).toBeLessThanOrEqual(10);
    const page = readFileSync(path.join(ROOT, 'docs', 'runbooks.md'), 'utf8');
    const sections = Array.from(page.matchAll(/^## (\w+)$/gm), ([, heading]) => heading);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert = '', annotations = {} } of alerts) {
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
      expect(annotations['runbook_url']).toMatch(new RegExp(`/docs/runbooks\\.md#${alert.toLowerCase()}$`));
    }
  });

  it('has for each alert a test in which it fires, and one just short of it', () => {
    expect(Object.keys(CASES)).toEqual(alerts.map(({ alert }) => alert));
    for (const cases of Object.values(CASES)) {
      expect(cases.some(({ fires }) => fires !== undefined)).toBe(true);
      expect(cases.some(({ fires }) => fires === undefined)).toBe(true);
    }
  });
});

describeOnPrometheus('deploy/prometheus/rules.yml, by promtool', () => {
  it('is valid', async () => {
    expect(await promtool('check', 'rules', RULES)).toContain('SUCCESS');
  });

  describe.each(Object.entries(CASES))('%s', (alert, cases) => {
    it.each(cases.map((each) => ({ ...each, outcome: each.fires ?? 'nothing' })))(
      'has $outcome firing when $when',
      async (each) => {
        await expect(testRules(each, alert)).resolves.toBeUndefined();
      },
    );
  });
});
