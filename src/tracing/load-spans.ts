import { tracingChannel, type TracingChannelSubscribers } from 'node:diagnostics_channel';
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { type LoadNotice, LOADS } from '../database/batcher.js';
import { QUERIES, type QueryNotice } from '../database/query-channel.js';
import type { Environment } from '../settings/environment.js';
import type { RequestSpans } from './request-spans.js';

const COUNTING = 'count';

/** Creates a span for each load and each query of a request. It lasts for as long as the request waits, also for a shared batch. */
export class LoadSpans {
  private readonly spans = new WeakMap<object, Span>();
  private readonly loads = tracingChannel<unknown, LoadNotice>(LOADS);
  private readonly queries = tracingChannel<unknown, QueryNotice>(QUERIES);
  private readonly onLoads: TracingChannelSubscribers<LoadNotice>;
  private readonly onQueries: TracingChannelSubscribers<QueryNotice>;

  constructor(
    private readonly tracer: Tracer,
    private readonly requests: RequestSpans,
    { COUNTER_STORE }: Pick<Environment, 'COUNTER_STORE'>,
  ) {
    const counters = COUNTER_STORE === undefined ? 'postgresql' : 'redis';
    this.onLoads = this.subscribers(
      ({ name }) => this.start(name, { 'db.system.name': name === COUNTING ? counters : 'postgresql' }),
      ({ batchSize }, span) => {
        if (batchSize !== undefined) {
          span.setAttribute('animal_store.batch.size', batchSize);
        }
      },
    );
    this.onQueries = this.subscribers(({ text }) => {
      const operation = text.trimStart().split(/\s/, 1)[0] ?? '';
      return this.start(operation, {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.text': text,
      });
    });
  }

  listen(): void {
    this.loads.subscribe(this.onLoads);
    this.queries.subscribe(this.onQueries);
  }

  stop(): void {
    this.loads.unsubscribe(this.onLoads);
    this.queries.unsubscribe(this.onQueries);
  }

  private start(name: string, attributes: Attributes): Span | null {
    const context = this.requests.current;
    return context === undefined
      ? null
      : this.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context);
  }

  private subscribers<Notice extends object>(
    start: (notice: Notice) => Span | null,
    complete: (notice: Notice, span: Span) => void = () => {},
  ): TracingChannelSubscribers<Notice> {
    return {
      start: (notice) => {
        const span = start(notice);
        if (span !== null) {
          this.spans.set(notice, span);
        }
      },
      end: () => {},
      asyncStart: () => {},
      asyncEnd: (notice) => {
        const span = this.spans.get(notice);
        if (span !== undefined) {
          complete(notice, span);
          span.end();
        }
      },
      error: (notice) => {
        const { code, name = 'Error' } = Object(notice.error) as { code?: string; name?: string };
        this.spans
          .get(notice)
          ?.setAttribute('error.type', code ?? name)
          .setStatus({ code: SpanStatusCode.ERROR });
      },
    };
  }
}
