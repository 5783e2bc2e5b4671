import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '../eventually.js';
import { CERTIFIED_HOST, type Certificate } from './certificate.js';

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

/**
 * @param nextStatus returns the status of the next response; null for no response.
 * @param certificate by which it speaks TLS.
 */
export async function startCollector(nextStatus: () => number | null = () => 200, certificate?: Certificate) {
  const postings: Posting[] = [];
  const respond: RequestListener = (request, response) => {
    void buffer(request).then((body) => {
      const { url: path = '', headers } = request;
      postings.push({ path, type: headers['content-type'] ?? '', headers, body });
      const status = nextStatus();
      if (status !== null) {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      }
    });
  };
  const server =
    certificate === undefined
      ? createServer(respond)
      : createTlsServer(
          { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key) },
          respond,
        );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = certificate === undefined ? 'http://127.0.0.1' : `https://${CERTIFIED_HOST}`;
  /** Returns the spans received as JSON. */
  const spans = () => postings.flatMap(parseSpans);
  return {
    url: `${origin}:${(server.address() as AddressInfo).port}`,
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
