import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '../eventually.js';

/** A span as OTLP/JSON has it, its attributes by name. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  status: { code: number };
  attributes: Record<string, unknown>;
  /** The attributes of the service. */
  resource: Record<string, unknown>;
}

/** A received request. */
interface Posting {
  path: string;
  type: string;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
}

/** A collector of spans, by OTLP over HTTP. */
export type Collector = Awaited<ReturnType<typeof startCollector>>;

interface Attribute {
  key: string;
  value: { arrayValue?: { values: object[] } };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (ReceivedSpan & { attributes: Attribute[] })[] }[];
  }[];
}

const readValue = ({ value }: Attribute): unknown =>
  value.arrayValue === undefined
    ? Object.values(value)[0]
    : value.arrayValue.values.map((each) => Object.values(each)[0] as unknown);
const byName = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map((attribute) => [attribute.key, readValue(attribute)]));

function parseSpans({ body, type }: Posting): ReceivedSpan[] {
  if (type !== 'application/json') {
    return [];
  }
  const { resourceSpans } = JSON.parse(body.toString()) as Export;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: byName(span.attributes),
        resource: byName(resource.attributes),
      })),
    ),
  );
}

/** @param nextStatus returns the status of the next response; null for no response. */
export async function startCollector(nextStatus: () => number | null = () => 200) {
  const postings: Posting[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { url: path = '', headers } = request;
      postings.push({ path, type: headers['content-type'] ?? '', headers, body });
      const status = nextStatus();
      if (status !== null) {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** Returns the spans received as JSON. */
  const spans = () => postings.flatMap(parseSpans);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    postings,
    spans,
    /** Waits for a span. */
    span: async (matches: (span: ReceivedSpan) => boolean) => {
      await until(() => spans().some(matches));
      return spans().find(matches) as ReceivedSpan;
    },
    close: () =>
      new Promise<unknown>((resolve) => {
        server.close(resolve).closeAllConnections();
      }),
  };
}
