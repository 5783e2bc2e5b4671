import createClient, { type Client } from 'openapi-fetch';
import { ApiPromise, type ApiResponse } from './api-promise.js';
import { Call, type Transport } from './call.js';
import type { CallOptions } from './call-options.js';
import { deprecationWarning } from './deprecation-warning.js';
import { exactParameters } from './exact-number.js';
import { parseCsv } from './csv.js';
import { parseJson, writeJson } from './json.js';
import { PagePromise } from './page-promise.js';
import { readPaging, type Page } from './pages.js';
import { rateLimitWindows } from './rate-limit-headers.js';

/** Properties of an operation that decide how its calls are sent. */
interface OperationTraits {
  /** Whether a request may be repeated although the service may have carried it out. True by default. */
  repeatable?: boolean;
  /** Whether its requests count against the windows of the key. True by default. */
  counted?: boolean;
  /** Returns the body of a successful response; throws if it is broken. `parseJson` by default. */
  parse?: (text: string) => unknown;
}

/** How openapi-fetch sends a call: through `Call`, and with the body as text, which keeps all digits. */
// A type, because openapi-fetch takes no interface here.
type Sending = {
  fetch: (request: Request) => Promise<Response>;
  parseAs: 'text';
};

interface TextResponse {
  data?: string;
  response: Response;
}

/** Sends the operations of one OpenAPI document. */
// oxlint-disable-next-line typescript/no-empty-object-type -- as openapi-fetch declares its paths
export class Connection<Paths extends {}> {
  private readonly client: Client<Paths>;

  constructor(
    baseUrl: string,
    apiKey: string,
    warn: (message: string) => void,
    private readonly transport: Transport,
  ) {
    this.client = createClient<Paths>({
      baseUrl,
      headers: { Authorization: `Bearer ${apiKey}` },
      bodySerializer: writeJson,
    });
    this.client.use(exactParameters, deprecationWarning(warn));
  }

  /** Makes a call whose result is the body of the response. */
  call<Result>(
    options: CallOptions,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
    traits: OperationTraits = {},
  ): ApiPromise<Result> {
    return new ApiPromise(this.perform(options, traits, send, (body) => body as Result));
  }

  /**
   * Makes a call whose result is a page of a list.
   *
   * @param nextPage makes the same call for the page that a cursor names.
   */
  list<Item>(
    options: CallOptions,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
    nextPage: (cursor: string) => Promise<Page<Item>>,
  ): PagePromise<Item> {
    const read = (body: unknown, headers: Headers) => ({
      items: body as Item[],
      ...readPaging(headers),
    });
    return new PagePromise(this.perform(options, {}, send, read), nextPage);
  }

  /** Makes a call whose result is a page of a list as CSV: one text. */
  async csvPage(
    options: CallOptions,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
  ): Promise<Page<string>> {
    const read = (body: unknown, headers: Headers) => ({
      items: [body as string],
      ...readPaging(headers),
    });
    const { data } = await this.perform(options, { parse: parseCsv }, send, read);
    return data;
  }

  private async perform<Result>(
    { signal, timeoutMs = this.transport.budget.totalMs }: CallOptions,
    { repeatable = true, counted = true, parse = parseJson }: OperationTraits,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
    read: (body: unknown, headers: Headers) => Result,
  ): Promise<ApiResponse<Result>> {
    const budget = { ...this.transport.budget, totalMs: timeoutMs };
    const call = new Call(
      { ...this.transport, budget },
      {
        signal: signal ?? new AbortController().signal,
        repeatable,
        counted,
        parse,
      },
    );
    const sending = { fetch: (request: Request) => call.send(request), parseAs: 'text' } as const;
    const { data = '', response } = await send(this.client, sending);
    const { status, headers } = response;
    return {
      data: read(parse(data), headers),
      status,
      headers,
      requestId: headers.get('X-Request-Id'),
      limits: rateLimitWindows(headers),
      attempts: call.attempts,
    };
  }
}
