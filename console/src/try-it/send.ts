import type { PreparedRequest } from './request';

const TIMEOUT_MS = 30_000;

/** A response exactly as it arrived, except that `fetch` has decompressed its body. */
export interface ReceivedResponse {
  status: number;
  /** The status in words; empty over HTTP/2. */
  statusText: string;
  durationMs: number;
  headers: [name: string, value: string][];
  /** The body as text, so that no number loses a digit. */
  text: string;
}

/** Sends a request with the key, past the cache of the browser. */
export async function send(request: PreparedRequest, apiKey: string): Promise<ReceivedResponse> {
  const startMs = performance.now();
  const response = await fetch(request.url, {
    method: request.method,
    headers: [...request.headers, ['Authorization', `Bearer ${apiKey}`]],
    body: request.body,
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return {
    status: response.status,
    statusText: response.statusText,
    durationMs: performance.now() - startMs,
    headers: [...response.headers],
    text,
  };
}
