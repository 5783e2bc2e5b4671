export interface HttpResponse {
  status: number;
  headers: Headers;
  /** The body as text; `json` parses it, which loses digits of large integers. */
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

export interface Init {
  method?: string;
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string or bytes. */
  body?: unknown;
  redirect?: 'manual';
  /** How long to wait for the whole response. Default: without limit. */
  patienceMs?: number;
}

/** Returns the ids of the records in a list. */
export const listedIds = ({ json }: Pick<HttpResponse, 'json'>) => json.map(({ id }: { id: unknown }) => id);

/** Sends an HTTP request, and returns the whole response. */
export async function send(
  url: string,
  { method = 'GET', key, headers = {}, body, redirect, patienceMs }: Init = {},
): Promise<HttpResponse> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    }),
    ...(redirect !== undefined && { redirect }),
    ...(patienceMs !== undefined && { signal: AbortSignal.timeout(patienceMs) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
