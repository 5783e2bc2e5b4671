import createClient, { type Client } from 'openapi-fetch';
import { ApiPromise, type ApiResponse } from './api-promise.js';
import { Call, type Transport } from './call.js';
import type { CallOptions } from './call-options.js';
import { deprecationWarning } from './deprecation-warning.js';
import { exactParameters } from './exact-number.js';
import { everyCsvPage, parseCsv } from './csv.js';
import type { ClientDeprecationEvent } from './hooks.js';
import { parseJson, writeJson } from './json.js';
import { PagePromise } from './page-promise.js';
import { LARGEST_PAGE, type PageQuery, readPaging, type ResultPage } from './pages.js';
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
    onDeprecation: (event: ClientDeprecationEvent) => void,
    private readonly transport: Transport,
  ) {
    this.client = createClient<Paths>({
      baseUrl,
      headers: { Authorization: `Bearer ${apiKey}` },
      bodySerializer: writeJson,
    });
    this.client.use(exactParameters, deprecationWarning(onDeprecation));
  }

  /** Makes a call whose result is the body of the response. */
  call<Result>(
    options: CallOptions,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
    traits: OperationTraits = {},
  ): ApiPromise<Result> {
    const response = this.perform(options, traits, send, (body) => body as Result);
    return new ApiPromise(() => response);
  }

  /** Makes a call whose result is a page of a list. */
  list<Item, Query extends PageQuery>(
    query: Query,
    options: CallOptions,
    send: (client: Client<Paths>, page: Query, sending: Sending) => Promise<TextResponse>,
  ): PagePromise<Item> {
    const read = (body: unknown, headers: Headers): ResultPage<Item> => ({
      items: body as Item[],
      ...readPaging(headers),
    });
    const request = (page: Query) =>
      this.perform(options, {}, (client, sending) => send(client, page, sending), read);
    return new PagePromise(
      () => request(query),
      (from) => request({ ...largePage(query), ...from }),
    );
  }

  /** Makes the calls for all pages of a list as CSV: one text each. */
  listCsv<Query extends PageQuery>(
    query: Query,
    options: CallOptions,
    send: (client: Client<Paths>, page: Query, sending: Sending) => Promise<TextResponse>,
  ): AsyncGenerator<string, void, undefined> {
    const read = (body: unknown, headers: Headers) => ({
      items: [body as string],
      ...readPaging(headers),
    });
    return everyCsvPage(async (from) => {
      const page = { ...largePage(query), ...from };
      const { data } = await this.perform(
        options,
        { parse: parseCsv },
        (client, sending) => send(client, page, sending),
        read,
      );
      return data;
    });
  }

  private async perform<Result>(
    { signal, timeoutMs = this.transport.budget.timeoutMs }: CallOptions,
    { repeatable = true, counted = true, parse = parseJson }: OperationTraits,
    send: (client: Client<Paths>, sending: Sending) => Promise<TextResponse>,
    read: (body: unknown, headers: Headers) => Result,
  ): Promise<ApiResponse<Result>> {
    const budget = { ...this.transport.budget, timeoutMs };
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
      rateLimit: rateLimitWindows(headers),
      attempts: call.attempts,
    };
  }
}

/** Returns the query of an iteration: without a `limit`, by the largest pages. */
function largePage<Query extends PageQuery>(query: Query): Query {
  return { ...query, limit: query.limit ?? LARGEST_PAGE };
}
