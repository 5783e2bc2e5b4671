import type prometheus from 'prom-client';
import type { Metric, MetricValueWithName } from 'prom-client';
import type { Histogram } from '../database/histogram.js';

const PREFIX = 'animal_store_';

/** A value, and the values of its labels. */
export type Sample = [value: number, ...labels: string[]];
type Labels = Record<string, string>;

/** Metrics whose values are read from elsewhere at each scrape, so that they cost a request nothing. */
export class MetricsRegistry {
  readonly registry: prometheus.Registry;

  /** @param library a parameter, as it is loaded only if metrics are configured. */
  constructor(private readonly library: typeof prometheus) {
    this.registry = new library.Registry();
    library.collectDefaultMetrics({ register: this.registry });
  }

  /** Adds a value that only grows. */
  counter(name: string, help: string, labelNames: string[], read: () => Sample[]): void {
    const collect = () => {
      counter.reset();
      read().forEach(([value, ...labels]) => counter.labels(...labels).inc(value));
    };
    const counter = new this.library.Counter({ ...this.named(name, help), labelNames, collect });
  }

  /** Adds a value that grows and shrinks. */
  gauge(name: string, help: string, labelNames: string[], read: () => Sample[]): void {
    const collect = () => {
      gauge.reset();
      read().forEach(([value, ...labels]) => gauge.labels(...labels).set(value));
    };
    const gauge = new this.library.Gauge({ ...this.named(name, help), labelNames, collect });
  }

  /** Adds histograms. The library's own would validate and hash the labels of each observation. */
  histogram(name: string, help: string, read: () => [Histogram, Labels][]): void {
    const metric = { ...this.named(name, help), type: 'histogram', aggregator: 'sum' };
    const get = async () => ({
      ...metric,
      values: read().flatMap(([histogram, labels]) => valuesOf(metric.name, histogram, labels)),
    });
    this.registry.registerMetric({ ...metric, get } as unknown as Metric);
  }

  private named(name: string, help: string) {
    return { name: PREFIX + name, help, registers: [this.registry] };
  }
}

/** Returns a histogram in the format of Prometheus, in which each bucket includes those below it. */
function valuesOf(
  name: string,
  { bounds, counts, count, sum }: Histogram,
  labels: Labels,
): MetricValueWithName<string>[] {
  let cumulative = 0;
  const buckets = counts.map((added, bucket) => {
    cumulative += added;
    const le = bounds[bucket] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: cumulative };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
