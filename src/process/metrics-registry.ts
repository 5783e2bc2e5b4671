import { collectDefaultMetrics, Counter, Gauge, type Histogram, type Metric, Registry } from 'prom-client';

export const PREFIX = 'animal_store_';

/** A value, and the values of its labels. */
export type Sample = [value: number, ...labels: string[]];
export type Labels<Name extends string = string> = Record<Name, string>;

/** The batches of a `Batcher` so far. */
export interface BatchMetrics {
  name: string;
  seconds: Histogram;
  sizes: Histogram;
  /** Items whose load was rejected. */
  failures: number;
}

/** A provider of a module that has metrics. The metrics of all are collected when the service starts. */
export interface MetricsSource {
  addMetrics(metrics: MetricsRegistry): void;
}

/** Metrics whose values are read from elsewhere at each scrape, so that they cost a request nothing. */
export class MetricsRegistry {
  readonly registry = new Registry();

  readonly counter = this.adder(Counter);
  readonly gauge = this.adder(Gauge);
  private readonly batches: BatchMetrics[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.histogram(`${PREFIX}query_duration_seconds`, 'Duration of a batched query.', ['query'], () =>
      this.batches.map(({ name, seconds }) => [seconds, { query: name }]),
    );
    this.histogram(`${PREFIX}query_batch_size`, 'Requests in a batched query.', ['query'], () =>
      this.batches.map(({ name, sizes }) => [sizes, { query: name }]),
    );
    this.counter('query_requests_failed_total', 'Requests whose batched query failed.', ['query'], () =>
      this.batches.map(({ name, failures }) => [failures, name]),
    );
  }

  addBatches(...batches: BatchMetrics[]): void {
    this.batches.push(...batches);
  }

  /**
   * Adds histograms that modules keep, each as one with these labels: a label costs the library more time
   * than an observation.
   */
  histogram<const Name extends string>(
    name: string,
    help: string,
    labelNames: readonly Name[],
    read: () => [Histogram, Labels<Name>][],
  ): void {
    const metric = { name, help, type: 'histogram', aggregator: 'sum', labelNames };
    const readValues = async ([histogram, labels]: [Histogram, Labels<Name>]) =>
      (await histogram.get()).values.map((value) => ({
        ...value,
        metricName: value.metricName?.replace(/^[a-z]+/, metric.name),
        labels: { ...labels, ...value.labels },
      }));
    const get = async () => ({ ...metric, values: (await Promise.all(read().map(readValues))).flat() });
    this.registry.registerMetric({ ...metric, get } as unknown as Metric);
  }

  private adder(Kind: typeof Counter | typeof Gauge) {
    return (name: string, help: string, labelNames: string[], read: () => Sample[]): void => {
      const collect = () => {
        metric.reset();
        read().forEach(([value, ...labels]) => metric.labels(...labels).inc(value));
      };
      const registers = [this.registry];
      const metric: Counter | Gauge = new Kind({ name: PREFIX + name, help, registers, labelNames, collect });
    };
  }
}
