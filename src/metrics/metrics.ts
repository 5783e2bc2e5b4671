import type prometheus from 'prom-client';
import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import type { Histogram } from './histogram.js';

type Labels = Record<string, string | number>;

/** One value of a metric, with its labels. */
export interface Sample {
  labels?: Labels;
  value: number;
}

interface Description {
  name: string;
  help: string;
  labelNames?: readonly string[];
}

/** Registers metrics whose values are read from elsewhere when they are scraped. */
export class Metrics {
  readonly registry: Registry;

  /** @param library a parameter, as it is loaded only if metrics are configured. */
  constructor(private readonly library: typeof prometheus) {
    this.registry = new library.Registry();
  }

  /** Registers a value that only grows. */
  counter(description: Description, read: () => Iterable<Sample>): void {
    const counter: prometheus.Counter = new this.library.Counter({
      ...description,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        for (const { labels = {}, value } of read()) {
          counter.inc(labels, value);
        }
      },
    });
  }

  /** Registers a value that grows and shrinks. */
  gauge(description: Description, read: () => Iterable<Sample>): void {
    const gauge: prometheus.Gauge = new this.library.Gauge({
      ...description,
      registers: [this.registry],
      collect: () => {
        gauge.reset();
        for (const { labels = {}, value } of read()) {
          gauge.set(labels, value);
        }
      },
    });
  }

  /** Registers histograms. Those of the library would look up the labels for each observation. */
  histogram(
    { name, help }: Description,
    read: () => Iterable<{ labels: Labels; histogram: Histogram }>,
  ): void {
    const metric = {
      name,
      help,
      get: async () => ({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...read()].flatMap(({ labels, histogram }) => samplesOf(name, labels, histogram)),
      }),
    };
    this.registry.registerMetric(metric as unknown as Metric);
  }
}

/** Returns a histogram as Prometheus reads it: each bucket includes those below it. */
function samplesOf(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: Histogram,
): MetricValueWithName<string>[] {
  let count = 0;
  const buckets = counts.map((added, bucket) => {
    count += added;
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: bounds[bucket] ?? '+Inf' },
      value: count,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
