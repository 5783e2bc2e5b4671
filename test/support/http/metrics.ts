import { send } from './http.js';

/** One line of a metric. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

interface Scrape {
  /** The names of the metrics. */
  names: string[];
  samples: Sample[];
  /** The value of the only line of this name and these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const LINE = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;

/** Returns the metrics, in the text format of Prometheus. @throws Error for an invalid line. */
export async function scrape(url: string): Promise<Scrape> {
  const { status, text, headers } = await send(`${url}/metrics`);
  if (status !== 200 || !headers.get('content-type')?.startsWith('text/plain; version=0.0.4')) {
    throw new Error(`No metrics: ${status} ${text}`);
  }
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSample);
  const value = (name: string, labels: Record<string, string> = {}) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, label]) => sample.labels[key] === label),
    );
    if (found.length > 1) {
      throw new Error(`${found.length} samples match ${name}`);
    }
    return found[0]?.value;
  };
  return { names: Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => String(name)), samples, value };
}

function readSample(line: string): Sample {
  const { name = '', labels = '', value } = LINE.exec(line)?.groups ?? {};
  if (value === undefined) {
    throw new Error(`Invalid line of a metric: ${line}`);
  }
  const pairs = Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, key, label]) => [key, label]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
