import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { stringify } from 'yaml';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { findProgram, type Program, startProgram } from '../support/programs/programs.js';

const PROMETHEUS = findProgram('prometheus', 'prometheus');

/** Tests with the Prometheus of Debian and its tools. Skipped if there is none, but not in CI. */
export const describeOnPrometheus = PROMETHEUS === undefined ? describe.skip : describe;

/** Runs Prometheus' own tool, and returns what it wrote. @throws Error with that if it fails. */
export async function promtool(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('promtool', args);
  return stdout;
}

/** A series of the result of a query, with its last value. */
interface Series {
  labels: Record<string, string>;
  value: number;
}

export interface PrometheusServer extends Pick<Program, 'stop'> {
  /** Returns the current result of a query. @throws Error if Prometheus rejects it. */
  query(expression: string): Promise<Series[]>;
}

interface Options {
  /** The address of each replica's metrics. */
  targets: string[];
  /** How often it scrapes, and evaluates its rules. */
  interval: string;
  rules?: string;
  /** The host and port of the Alertmanager. */
  alertmanager?: string;
}

/**
 * Starts a Prometheus and waits until it has scraped each replica; they have the labels that the operator for
 * Kubernetes gives them.
 */
export async function startPrometheus({
  targets,
  interval,
  rules = 'groups: []',
  alertmanager,
}: Options): Promise<PrometheusServer> {
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ['rules.yml'],
    alerting: {
      alertmanagers: alertmanager === undefined ? [] : [{ static_configs: [{ targets: [alertmanager] }] }],
    },
    scrape_configs: [
      {
        job_name: 'animal-store',
        static_configs: targets.map((url, index) => ({
          targets: [new URL(url).host],
          labels: { namespace: 'shop', pod: `animal-store-${index}` },
        })),
      },
    ],
  };
  const { stop } = await startProgram(
    [
      PROMETHEUS ?? '',
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
      '--rules.alert.resend-delay=1s',
    ],
    { 'prometheus.yml': stringify(configuration), 'rules.yml': rules },
    async () => (await send(`http://${address}/-/ready`).catch(() => null))?.status === 200,
  );
  const query = async (expression: string): Promise<Series[]> => {
    const { json } = await send(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    if (json.status !== 'success') {
      throw new Error(`Prometheus rejects ${expression}: ${json.error}`);
    }
    const result = json.data.result as { metric: Record<string, string>; value: [number, string] }[];
    return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  };
  // It starts to scrape after five seconds.
  await until(async () => (await query('up == 1')).length === targets.length);
  return { query, stop };
}
