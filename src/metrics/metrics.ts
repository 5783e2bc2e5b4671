import type prometheus from 'prom-client';
import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import type { Distribution } from '../distribution.js';

type Labels = Record<string, string | number>;

/** One number of a metric, under these labels. */
export interface Sample {
  labels?: Labels;
  value: number;
}

interface Description {
  name: string;
  help: string;
  labelNames?: readonly string[];
}

/** Registers metrics whose numbers are elsewhere, and are read when somebody asks. */
export class Metrics {
  readonly registry: Registry;

  /** @param library loaded only where somebody wants metrics. */
  constructor(private readonly library: typeof prometheus) {
    this.registry = new library.Registry();
  }

  /** A number that only grows. */
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

  /** A number that comes and goes. */
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

  /** How often a number was how great. The library's own histogram has each number told to it, with its labels. */
  histogram(
    { name, help }: Description,
    read: () => Iterable<{ labels: Labels; distribution: Distribution }>,
  ): void {
    const histogram = {
      name,
      help,
      get: async () => ({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...read()].flatMap(({ labels, distribution }) => samplesOf(name, labels, distribution)),
      }),
    };
    this.registry.registerMetric(histogram as unknown as Metric);
  }
}

/** A histogram as Prometheus reads it: of each bound all that is not above it. */
function samplesOf(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: Distribution,
): MetricValueWithName<string>[] {
  let count = 0;
  const buckets = counts.map((added, place) => {
    count += added;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[place] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
