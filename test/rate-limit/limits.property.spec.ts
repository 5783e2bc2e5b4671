import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { DAY_MS, MINUTE_MS } from '../support/time/clock.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { type AnyCounterStore, counterStores } from '../support/counter-stores.js';
import { clock, consume, home, newBucket, openForEach, store } from './counting.js';
import { QuotaModel } from './quota-model.js';

const RUNS = 30;
/**
 * The least distance to the end of a window when requests are sent, so that all of them are on one side of
 * it.
 */
const CLEARANCE_MS = 5_000;
/** The distance before the end of a ban at which nothing has changed yet. */
const BEFORE_EDGE_MS = 10_000;
/**
 * Until then fast-check shrinks a failure; it then reports the shortest sequence of events that it has found.
 */
const PATIENCE_MS = 20_000;

const whole = (min: number, max: number) => fc.integer({ min, max });

/**
 * What can happen to a quota, in any order. Long sequences are frequent: a ban, its end and the next ban are
 * many events.
 */
const events = fc.noBias(
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ type: fc.constant('burst'), requests: whole(1, 12) }) },
      // As many requests as start a ban, whatever was sent before.
      { weight: 4, arbitrary: fc.record({ type: fc.constant('outrage') }) },
      // To the end of the last ban and some days after it, or to shortly before.
      {
        weight: 5,
        arbitrary: fc.record({
          type: fc.constant('ban end'),
          days: whole(0, 2),
          shortlyBefore: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('lift') }) },
      { weight: 4, arbitrary: fc.record({ type: fc.constant('minutes'), pass: whole(1, 3) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('days'), pass: whole(1, 2) }) },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('limits'), perMinute: whole(1, 8), perDay: whole(1, 40) }),
      },
    ),
    { minLength: 1, maxLength: 24 },
  ),
);
type Event = typeof events extends fc.Arbitrary<(infer One)[]> ? One : never;

/** The part of a decision that the model predicts, as text that can be sorted. */
const summarize = ({ allowed, windows, denialsUntilBan, ban }: ReturnType<QuotaModel['peek']>) =>
  JSON.stringify({ allowed, windows, denialsUntilBan, ban });

describe.each(counterStores)('two replicas over one %s', (name, start) => {
  openForEach(start);

  const startsBans = name !== 'memory';

  let other: AnyCounterStore;
  let model: QuotaModel;
  let bucketKey: string;

  const request = (): RateLimitRequest => ({ bucketKey, ...model.limits });
  const travelToNext = (lengthMs: number, count: number) =>
    clock.travelTo(new Date((Math.floor(clock.now() / lengthMs) + count) * lengthMs));

  /** Moves past every window end that is so near that the next requests could be on both sides of it. */
  function moveClearOfEdges(): void {
    model.passTo(clock.now());
    if (model.nextEdgeMs < clock.now() + CLEARANCE_MS) {
      clock.travelTo(new Date(model.nextEdgeMs));
      moveClearOfEdges();
    }
  }

  async function expectAsPredicted(): Promise<void> {
    moveClearOfEdges();
    for (const replica of [store, other]) {
      expect(summarize(await replica.peek(request()))).toBe(summarize(model.peek()));
      const end = model.isBanned ? new Date(model.banEndMs) : undefined;
      expect((await replica.bans()).get(bucketKey)).toEqual(end);
    }
  }

  async function burst(requests: number): Promise<void> {
    const decisions = await consume(request(), requests, store, other);
    const { nowMs } = (decisions.find(({ ban }) => ban?.started) ?? decisions[0]) as RateLimitDecision;
    const predicted = decisions.map(() => summarize(model.consume(nowMs)));
    expect(decisions.map(summarize).toSorted()).toEqual(predicted.toSorted());
  }

  async function lift(): Promise<void> {
    expect(await other.liftBan(bucketKey)).toEqual(model.isBanned ? new Date(model.banEndMs) : null);
    model.liftBan();
    // In memory, the time of a replica stands still within a turn of the event loop.
    await nextTurn();
  }

  async function apply(event: Event): Promise<void> {
    switch (event.type) {
      case 'burst':
        await burst(event.requests);
        break;
      case 'outrage':
        await burst(requestsBeforeBan(model.limits.perMinute));
        break;
      case 'lift':
        await lift();
        break;
      case 'minutes':
        travelToNext(MINUTE_MS, event.pass);
        break;
      case 'days':
        travelToNext(DAY_MS, event.pass);
        break;
      case 'ban end': {
        const edgeMs = model.banEndMs + event.days * DAY_MS - (event.shortlyBefore ? BEFORE_EDGE_MS : 0);
        clock.travelTo(new Date(Math.max(edgeMs, clock.now())));
        break;
      }
      case 'limits':
        model.limits = { perMinute: event.perMinute, perDay: event.perDay };
    }
  }

  it('allow, deny and ban exactly as the model predicts, and report each remaining count once', async () => {
    other = await home.open();
    const asPredicted = fc.asyncProperty(events, async (sequence) => {
      travelToNext(DAY_MS, 1);
      model = new QuotaModel({ perMinute: 5, perDay: 20 }, clock.now(), startsBans);
      ({ bucketKey } = newBucket());
      for (const event of sequence) {
        moveClearOfEdges();
        await apply(event);
        await expectAsPredicted();
      }
    });
    const limits = { interruptAfterTimeLimit: PATIENCE_MS, markInterruptAsFailure: true };
    await fc.assert(asPredicted, { numRuns: RUNS, ...limits });
  });
});
