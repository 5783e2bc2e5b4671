import { send } from '../http/http.js';

/** One line of a metric. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

interface Scrape {
  /** The kind of each metric by its name. */
  types: Map<string, string>;
  samples: Sample[];
  /** The value of the only line of this name and these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (Nan|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Returns the metrics, read as Prometheus does (text format 0.0.4). @throws Error for an invalid line. */
export async function scrape(url: string): Promise<Scrape> {
  const { status, text: lines, headers } = await send(`${url}/metrics`);
  if (status !== 200 || !headers.get('content-type')?.startsWith('text/plain; version=0.0.4')) {
    throw new Error(`No metrics: ${status} ${lines}`);
  }
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of lines.split('\n').filter((each) => each !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (types.has(name)) {
        throw new Error(`${name} has two types`);
      }
      types.set(name, rest);
    } else if (kind === undefined) {
      samples.push(sampleOf(line));
    }
  }
  const value = (name: string, labels: Record<string, string> = {}) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    );
    if (found.length > 1) {
      throw new Error(`${found.length} samples match ${name}`);
    }
    return found[0]?.value;
  };
  return { types, samples, value };
}

function sampleOf(line: string): Sample {
  const [, name, labelText = '', value = ''] = LINE.exec(line) ?? [];
  if (name === undefined) {
    throw new Error(`Invalid line of a metric: ${line}`);
  }
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const [, key, text] = LABEL.exec(labelText) ?? [];
    if (key === undefined || text === undefined) {
      throw new Error(`Invalid labels: ${labelText}`);
    }
    labels[key] = text;
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}
