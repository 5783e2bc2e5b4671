import { LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { HOUR_MS } from '../support/time/clock.js';
import { newBucket, NOON, remaining } from './counting.js';

describe('LocalCounterStore', () => {
  it('has bounded memory: it evicts the least recently used bucket, and addresses never evict quotas', () => {
    const small = new LocalCounterStore(() => NOON, [], 100);
    const client = newBucket(60, 1000);
    small.consume(client);
    for (let address = 0; address < 10_000; address += 1) {
      small.consume({ bucketKey: `address:${address}`, perMinute: 300, perDay: null });
    }
    const { quotas, addresses } = small['counters'];
    expect([quotas.size, addresses.size]).toEqual([1, 100]);
    expect(remaining(small.consume(client))).toEqual([58, 998]);
    for (let other = 0; other < 100; other += 1) {
      small.consume({ ...client, bucketKey: `quota:other-${other}` });
    }
    expect(remaining(small.consume(client))).toEqual([59, 999]);
  });

  it('keeps the windows that another store opened while its clock was ahead', () => {
    const request = newBucket(2, 100);
    const ahead = new LocalCounterStore(() => NOON + HOUR_MS, []);
    ahead.consume(request);
    const decision = { ...ahead.consume(request), nowMs: NOON };
    const local = new LocalCounterStore(() => NOON, []);
    local.learn(request, decision);
    expect(local.consume(request)).toMatchObject({ allowed: false, windows: decision.windows, nowMs: NOON });
  });
});
