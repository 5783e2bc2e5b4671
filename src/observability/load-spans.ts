import type { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { errorType } from '../database/access/availability.js';
import { type LoadNotice, LOADS } from '../database/batches/batcher.js';
import type { Environment } from '../process/settings/environment.js';

const COUNTING = 'count-requests';

/**
 * Creates a span for each load of a request, for as long as that waits, even for a shared batch.
 *
 * @returns what ends that.
 */
export function addLoadSpans(
  contexts: AsyncLocalStorage<Context>,
  tracer: Tracer,
  { COUNTER_STORE_URL }: Pick<Environment, 'COUNTER_STORE_URL'>,
): () => void {
  const counters = COUNTER_STORE_URL === undefined ? 'postgresql' : 'redis';
  const spans = new WeakMap<LoadNotice, Span>();
  const loads = tracingChannel<unknown, LoadNotice>(LOADS);
  const nothing = () => {};
  const subscribers = {
    start: (notice: LoadNotice) => {
      const context = contexts.getStore();
      if (context !== undefined) {
        const { name } = notice;
        const attributes = { 'db.system.name': name === COUNTING ? counters : 'postgresql' };
        spans.set(notice, tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context));
      }
    },
    end: nothing,
    asyncStart: nothing,
    asyncEnd: (notice: LoadNotice) => {
      const span = spans.get(notice);
      if (notice.batchSize !== undefined) {
        span?.setAttribute('animal_store.batch.size', notice.batchSize);
      }
      span?.end();
    },
    error: (notice: LoadNotice & { error: unknown }) => {
      const span = spans.get(notice)?.setAttribute('error.type', errorType(notice.error));
      span?.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
  loads.subscribe(subscribers);
  return () => loads.unsubscribe(subscribers);
}
