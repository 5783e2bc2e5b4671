import type { ExecFileException } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { describeOnPrometheus, promtool } from './prometheus-server.js';

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

/** What replicas export, in the notation of promtool: `0+5x60` grows by 5 in each of 60 intervals. */
type Series = Record<string, string>;

interface Case {
  series: Series;
  /** The time between two samples, and between two evaluations; a minute if not given. */
  interval?: string;
  /** When the alerts are read, after the start of the series. */
  at: string;
  /** The severity of the alert that fires; none if nothing does. */
  fires?: 'page' | 'ticket';
  when: string;
}

/** Replaced by the namespace of each case. */
const CASE = 'CASE';

/** A metric of one of two replicas. */
const exported = (by: 'a' | 'b', metric: string, ...labels: string[]) => {
  const own = ['job="animal-store"', `instance="${by} of ${CASE}"`, `namespace="${CASE}"`, `pod="${by}"`];
  return `${metric}{${[...own, ...labels].join(', ')}}`;
};
const own = (name: string, ...labels: string[]) => exported('a', `animal_store_${name}`, ...labels);
const ofOther = (name: string, ...labels: string[]) => exported('b', `animal_store_${name}`, ...labels);
const requests = (by: 'a' | 'b', part: string, operation: string, status: number, ...labels: string[]) =>
  exported(
    by,
    `http_server_request_duration_seconds_${part}`,
    `operation="${operation}"`,
    `http_response_status_code="${status}"`,
    ...labels,
  );

/**
 * Requests a minute, of which this percentage is bad for so many minutes, then that percentage, and so on.
 */
type Traffic = [perMinute: number, ...phases: [badPercent: number, minutes: number][]];

/** A counter that grows by a share of the traffic, which depends on how much is bad. */
function growing([perMinute, ...phases]: Traffic, share: (bad: number) => number): string {
  let total = 0;
  const parts = phases.map(([badPercent, minutes]) => {
    const growth = perMinute * share(badPercent / 100);
    const part = `${total + growth}+${growth}x${minutes - 1}`;
    total += growth * minutes;
    return part;
  });
  return ['0', ...parts].join(' ');
}

/** Half of the bad requests get 500 from one replica, half 503 from the other. A probe always gets 503. */
function failing(...traffic: Traffic): Series {
  const half = growing(traffic, (bad) => bad / 2);
  return {
    [requests('a', 'count', 'createPet', 201)]: growing(traffic, (bad) => 1 - bad),
    [requests('a', 'count', 'createPet', 500)]: half,
    [requests('b', 'count', 'createPet', 503)]: half,
    [requests('a', 'count', 'none', 503)]: '0+1000x480',
  };
}

/**
 * Half of the bad pages take longer than 100 ms in each of two replicas. Failures, all fast, and a slow
 * operation do not count.
 */
function slow(...traffic: Traffic): Series {
  const bound = 'le="0.1"';
  return {
    [requests('a', 'count', 'listPets', 304)]: growing(traffic, (bad) => 1 - bad / 2),
    [requests('a', 'bucket', 'listPets', 304, bound)]: growing(traffic, (bad) => 1 - bad),
    [requests('b', 'count', 'listPets', 200)]: growing(traffic, (bad) => bad / 2),
    [requests('b', 'bucket', 'listPets', 200, bound)]: '0x480',
    [requests('a', 'count', 'listPets', 503)]: '0+1000x480',
    [requests('a', 'bucket', 'listPets', 503, bound)]: '0+1000x480',
    [requests('a', 'count', 'createPet', 201)]: '0+1000x480',
    [requests('a', 'bucket', 'createPet', 201, bound)]: '0x480',
  };
}

/**
 * The probes of two replicas each minute: all of one, and those of the other, are not ready from the tenth
 * minute on.
 */
function unready(other: 'ready' | 'unready'): Series {
  const probes = (by: 'a' | 'b', status: number) =>
    requests(by, 'count', 'none', status, 'http_route="/readyz"');
  const [ready, not] = ['0+12x10 120x20', '0x10 12+12x20'];
  return {
    [probes('a', 200)]: ready,
    [probes('a', 503)]: not,
    [probes('b', 200)]: other === 'ready' ? '0+12x30' : ready,
    [probes('b', 503)]: other === 'ready' ? '0x30' : not,
  };
}

/** The cases of an objective that allows this percentage of bad requests. */
function burning(bad: (...traffic: Traffic) => Series, allowed: number): Case[] {
  const times = (...phases: [times: number, minutes: number][]) =>
    bad(100, ...phases.map(([factor, minutes]): [number, number] => [allowed * factor, minutes]));
  return [
    {
      when: '14.5 times too many are bad for an hour',
      series: times([0, 300], [14.5, 65]),
      at: '365m',
      fires: 'page',
    },
    { when: '14.3 times too many are', series: times([0, 300], [14.3, 65]), at: '365m', fires: 'ticket' },
    {
      when: '20 times too many were, until ten minutes ago',
      series: times([0, 300], [20, 55], [0, 10]),
      at: '365m',
      fires: 'ticket',
    },
    { when: '20 times too many are, for ten minutes', series: times([0, 355], [20, 10]), at: '365m' },
    {
      when: '6.1 times too many are bad for six hours',
      series: times([6.1, 420]),
      at: '420m',
      fires: 'page',
    },
    { when: '5.9 times too many are', series: times([5.9, 420]), at: '420m', fires: 'ticket' },
    {
      when: '8 times too many were, until 40 minutes ago',
      series: times([8, 420], [0, 40]),
      at: '460m',
      fires: 'ticket',
    },
    { when: '12 times too many are, for 35 minutes', series: times([0, 720], [12, 35]), at: '755m' },
    { when: '1.02 times too many are bad for long', series: times([1.02, 420]), at: '420m', fires: 'ticket' },
    { when: '0.98 times as many are', series: times([0.98, 420]), at: '420m' },
    { when: '30 times too many were, until seven hours ago', series: times([30, 60], [0, 420]), at: '480m' },
    { when: 'all are bad, 6.1 a minute', series: bad(6.1, [100, 120]), at: '120m', fires: 'page' },
    { when: 'all are bad, 5.9 a minute', series: bad(5.9, [100, 120]), at: '120m' },
  ];
}

const ticket = 'ticket' as const;
const DEGRADED = own('rate_limit_degraded');
const CURRENT = own('api_key_cache_current');
const PENDING = own('database_queries_pending', 'pool="queries"');
const SHED = [own, ofOther].map((of) => of('requests_shed_total', 'operation="listPets"'));
const BANS = [own, ofOther].map((of) => of('bans_started_total', 'plan="free"'));
const LAG = exported('a', 'nodejs_eventloop_lag_p99_seconds');
const USAGE = own('usage_entries_queued');
const DROPPED = own('usage_requests_dropped_total');
const CALLERS = [own, ofOther].map((of) => of('deprecated_operation_recent_callers', 'operation="getPet"'));
/**
 * Each of two replicas counts so many events at once, 450 s after the start; what Prometheus extrapolates
 * from these samples is exact.
 */
const counted = (names: string[], counts: number[]): Pick<Case, 'series' | 'interval'> => ({
  series: Object.fromEntries(names.map((name, index) => [name, `0x9 ${counts[index]}x19`])),
  interval: '45s',
});

const CASES: Record<string, Case[]> = {
  AnimalStoreRequestsFail: [
    ...burning(failing, 0.1),
    { when: 'no replica is ready', series: unready('unready'), at: '14m', fires: 'page' },
    { when: 'one of two is', series: unready('ready'), at: '14m' },
  ],
  AnimalStorePagesSlow: burning(slow, 1),
  AnimalStoreRateLimitDegraded: [
    { when: 'it lasts for a minute', series: { [DEGRADED]: '0 1x9' }, at: '2m', fires: ticket },
    { when: 'it just began', series: { [DEGRADED]: '0 1x9' }, at: '1m' },
    { when: 'it has ended', series: { [DEGRADED]: '0 1 1 0x9' }, at: '3m' },
  ],
  AnimalStoreKeyCacheNotCurrent: [
    {
      when: 'it lasts for a minute, in one of two replicas',
      series: { [CURRENT]: '1 0x9', [ofOther('api_key_cache_current')]: '1x9' },
      at: '2m',
      fires: ticket,
    },
    { when: 'it just began', series: { [CURRENT]: '1 0x9' }, at: '1m' },
    { when: 'it has ended', series: { [CURRENT]: '1 0 0 1x9' }, at: '5m' },
  ],
  AnimalStoreQueriesPending: [
    { when: 'one waits for a minute', series: { [PENDING]: '0 1x9' }, at: '2m', fires: ticket },
    { when: 'many have just begun to wait', series: { [PENDING]: '0 90x9' }, at: '1m' },
    { when: 'many waited for less', series: { [PENDING]: '0 90 0x9' }, at: '2m' },
  ],
  AnimalStoreRequestsShed: [
    { when: 'eleven are shed within five minutes', ...counted(SHED, [5, 6]), at: '630s', fires: ticket },
    { when: 'ten are', ...counted(SHED, [5, 5]), at: '630s' },
    { when: 'eleven are within ten', series: { [own('requests_shed_total')]: '0+1.1x20' }, at: '15m' },
  ],
  AnimalStoreUsageDropped: [
    {
      when: 'a request is dropped',
      series: { [DROPPED]: '0x9 1x9', [USAGE]: '0x19' },
      at: '12m',
      fires: ticket,
    },
    {
      when: 'more than 10,000 entries are queued in one of two replicas',
      series: { [DROPPED]: '0x19', [USAGE]: '10001x19', [ofOther('usage_entries_queued')]: '0x19' },
      at: '12m',
      fires: ticket,
    },
    {
      when: '10,000 entries are queued in each of two, and none is dropped',
      series: { [DROPPED]: '7x19', [USAGE]: '10000x19', [ofOther('usage_entries_queued')]: '10000x19' },
      at: '12m',
    },
  ],
  AnimalStoreEventLoopLate: [
    {
      when: 'it is late for five minutes',
      series: { [LAG]: '0 0.101x9', [own('build_info')]: '1x9' },
      at: '6m',
      fires: ticket,
    },
    { when: 'it is late for four', series: { [LAG]: '0 0.101x9', [own('build_info')]: '1x9' }, at: '5m' },
    {
      when: 'it is late no more',
      series: { [LAG]: '0 0.101x5 0.1x9', [own('build_info')]: '1x15' },
      at: '7m',
    },
    { when: 'another service of Node is', series: { [LAG]: '0 0.101x9' }, at: '6m' },
  ],
  AnimalStoreBansSurge: [
    { when: 'eleven start within ten minutes', ...counted(BANS, [5, 6]), at: '900s', fires: ticket },
    { when: 'ten do', ...counted(BANS, [5, 5]), at: '900s' },
    { when: 'eleven do within twenty', series: { [own('bans_started_total')]: '0+0.55x30' }, at: '25m' },
  ],
  AnimalStoreDeprecatedOperationCalled: [
    {
      when: 'a replica counts a key that calls it',
      series: { [CALLERS[0]!]: '0 1x9', [CALLERS[1]!]: '0x9' },
      at: '5m',
      fires: ticket,
    },
    {
      when: 'no key called it in the last days',
      series: { [CALLERS[0]!]: '1 0x9', [CALLERS[1]!]: '1 0x9' },
      at: '5m',
    },
    { when: 'it was removed', series: { [CALLERS[0]!]: '1 1 _x20' }, at: '20m' },
  ],
};

const intervalOf = ({ interval = '1m' }: Case) => interval;
const namespaceOf = (alert: string, { when }: Case) => `${alert}: ${when}`;

/** How promtool writes the namespace of a case in its report. */
const inNamespaceOf = (alert: string, each: Case) => `namespace=\\"${namespaceOf(alert, each)}\\"`;

/** The test of promtool for a case, whose replicas are in a namespace of their own. */
function promtoolTest(alert: string, each: Case) {
  const { series, at, fires } = each;
  const namespace = namespaceOf(alert, each);
  const firing = `alertname="${alert}", alertstate="firing", namespace="${namespace}"`;
  return {
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name.replaceAll(CASE, namespace),
      values,
    })),
    promql_expr_test: [
      {
        expr: `count by (severity) (ALERTS{${firing}})`,
        eval_time: at,
        exp_samples: fires === undefined ? [] : [{ labels: `{severity="${fires}"}`, value: 1 }],
      },
    ],
  };
}

/**
 * Runs the rules on the series of all cases, at once for those that have one interval, and returns what
 * promtool reports of those that fail.
 */
async function failedCases(): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'animal-store-rules-'));
  const all = Object.entries(CASES).flatMap(([alert, cases]) => cases.map((each) => ({ alert, each })));
  const intervals = new Set(all.map(({ each }) => intervalOf(each)));
  const files = Array.from(intervals, (interval) => {
    const cases = all.filter(({ each }) => intervalOf(each) === interval);
    const tests = cases.map(({ alert, each }) => promtoolTest(alert, each));
    const test = {
      interval,
      input_series: tests.flatMap(({ input_series }) => input_series),
      promql_expr_test: tests.flatMap(({ promql_expr_test }) => promql_expr_test),
    };
    const file = path.join(folder, `${interval}.yml`);
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: interval, tests: [test] }));
    return file;
  });
  try {
    await promtool('test', 'rules', ...files);
    return [];
  } catch (error) {
    const [, ...failed] = (error as ExecFileException).stderr?.split(/^ {4}(?=expr: )/m) ?? [];
    const namespaces = all.map(({ alert, each }) => inNamespaceOf(alert, each));
    if (failed.length > 0 && failed.every((text) => namespaces.some((each) => text.includes(each)))) {
      return failed;
    }
    throw error;
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
    for (const { alert = '', expr, annotations = {} } of alerts) {
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
      // Other labels are aggregated away.
      const labels = /by \((.*?)\)/.exec(expr)?.[1]?.split(', ') ?? ['namespace'];
      for (const [, used] of (annotations['description'] ?? '').matchAll(/\$labels\.(\w+)/g)) {
        expect(labels).toContain(used);
      }
      expect(annotations['runbook_url']).toMatch(new RegExp(`/runbooks\\.md#${alert.toLowerCase()}$`));
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
  let failed: string[];

  beforeAll(async () => {
    failed = await failedCases();
  });

  it('is valid', async () => {
    expect(await promtool('check', 'rules', RULES)).toContain('SUCCESS');
  });

  describe.each(Object.entries(CASES))('%s', (alert, cases) => {
    it.each(cases.map((each) => ({ ...each, outcome: each.fires ?? 'nothing' })))(
      'has $outcome firing when $when',
      (each) => {
        const faults = failed.filter((text) => text.includes(inNamespaceOf(alert, each)));
        expect(faults).toStrictEqual([]);
      },
    );
  });
});
