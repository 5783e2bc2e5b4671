import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Batcher } from './batcher.js';
import {
  isRequestDeadline,
  lastStartMs,
  requestDeadlineError,
  withLastStart,
} from '../access/request-deadline.js';

/** A batch in flight, which the test resolves. */
interface Batch {
  items: number[];
  resolve(results: string[]): void;
  reject(reason: Error): void;
}

/** Returns a batcher whose batches wait until the test resolves them. */
function createBatcher(limits?: { maxBatch?: number; maxInFlight?: () => number }): {
  batcher: Batcher<number, string>;
  batches: Batch[];
} {
  const batches: Batch[] = [];
  const batcher = new Batcher<number, string>(
    (items) =>
      new Promise<string[]>((resolve, reject) => {
        batches.push({ items, resolve, reject });
      }),
    { name: 'test', ...limits },
  );
  return { batcher, batches };
}

const texts = (items: number[]) => items.map(String);

describe('Batcher', () => {
  afterEach(() => jest.restoreAllMocks());

  it('sends all items of one turn in one batch', async () => {
    const { batcher, batches } = createBatcher();
    void batcher.load(1);
    await Promise.resolve();
    void batcher.load(2);
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
  });

  it('has one batch in flight, and queues later items for the next', async () => {
    const { batcher, batches } = createBatcher();
    const first = batcher.load(1);
    await nextTurn();
    const rest = [batcher.load(2), batcher.load(3)];
    await nextTurn();
    rest.push(batcher.load(4));
    await nextTurn();
    expect(batches).toHaveLength(1);

    batches[0]?.resolve(['1']);
    expect(await first).toBe('1');
    await nextTurn();
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);

    batches[1]?.resolve(['2', '3', '4']);
    expect(await Promise.all(rest)).toEqual(['2', '3', '4']);
  });

  it('sends an item that is loaded in the callback of another result', async () => {
    const { batcher, batches } = createBatcher();
    const chained = batcher.load(1).then(() => batcher.load(2));
    await nextTurn();
    batches[0]?.resolve(['1']);
    await nextTurn();
    await nextTurn();
    batches[1]?.resolve(['2']);
    expect(await chained).toBe('2');
  });

  it('limits the items of a batch; the rest go with the next, in order', async () => {
    const { batcher, batches } = createBatcher({ maxBatch: 2 });
    const results = [1, 2, 3, 4, 5].map((item) => batcher.load(item));
    const expected = [[1, 2], [3, 4], [5]];
    for (const [index, items] of expected.entries()) {
      await nextTurn();
      expect(batches).toHaveLength(index + 1);
      expect(batches[index]?.items).toEqual(items);
      batches[index]?.resolve(texts(items));
      await nextTurn();
    }
    expect(await Promise.all(results)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('rejects every item of a failed batch with its reason, and no other', async () => {
    const { batcher, batches } = createBatcher();
    const outcomes = Promise.allSettled([1, 2].map((item) => batcher.load(item)));
    await nextTurn();
    const later = batcher.load(3);
    batches[0]?.reject(new Error('away'));
    await nextTurn();
    await nextTurn();
    batches[1]?.resolve(['3']);
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: new Error('away') },
      { status: 'rejected', reason: new Error('away') },
    ]);
    expect(await later).toBe('3');
  });

  it('rejects a single item when only that item failed', async () => {
    const batcher = new Batcher<number, string>(
      (items) => Promise.resolve(items.map((item) => (item === 2 ? new Error('bad') : String(item)))),
      { name: 'test' },
    );
    expect(await Promise.allSettled([1, 2, 3].map((item) => batcher.load(item)))).toEqual([
      { status: 'fulfilled', value: '1' },
      { status: 'rejected', reason: new Error('bad') },
      { status: 'fulfilled', value: '3' },
    ]);
  });

  it('rejects only the items with a bad value, and loads few batches to find them', async () => {
    const sizes: number[] = [];
    const bad = Object.assign(new Error('bad'), { code: '22P05' });
    const isBad = (item: number) => item === 3 || item === 40;
    const batcher = new Batcher<number, string>(
      async (items) => {
        sizes.push(items.length);
        if (items.some(isBad)) {
          throw bad;
        }
        return texts(items);
      },
      { name: 'test' },
    );
    const items = Array.from({ length: 64 }, (_, item) => item);
    const outcomes = await Promise.allSettled(items.map((item) => batcher.load(item)));
    expect(outcomes).toEqual(
      items.map((item) =>
        isBad(item) ? { status: 'rejected', reason: bad } : { status: 'fulfilled', value: String(item) },
      ),
    );
    expect(sizes.length).toBeLessThan(4 * Math.log2(64) + 2);
    expect(batcher.metrics.failures).toBe(2);
  });

  it('loads nothing more of a batch once the database is unavailable', async () => {
    const { batcher, batches } = createBatcher();
    const outcomes = Promise.allSettled([1, 2, 3, 4].map((item) => batcher.load(item)));
    await nextTurn();
    batches[0]?.reject(Object.assign(new Error('bad'), { code: '22003' }));
    await nextTurn();
    batches[1]?.resolve(['1', '2']);
    await nextTurn();
    const away = Object.assign(new Error('away'), { code: '57P01' });
    batches[2]?.reject(away);
    expect(await outcomes).toEqual([
      { status: 'fulfilled', value: '1' },
      { status: 'fulfilled', value: '2' },
      { status: 'rejected', reason: away },
      { status: 'rejected', reason: away },
    ]);
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2, 3, 4],
      [1, 2],
      [3, 4],
    ]);
  });

  it('loads nothing again after an error of our own code, which may follow the commit', async () => {
    const { batcher, batches } = createBatcher();
    const outcomes = Promise.allSettled([1, 2].map((item) => batcher.load(item)));
    await nextTurn();
    const defect = new TypeError('getTime is not a function');
    batches[0]?.reject(defect);
    expect(await outcomes).toEqual([1, 2].map(() => ({ status: 'rejected', reason: defect })));
    await nextTurn();
    expect(batches).toHaveLength(1);
  });

  it('rejects what is left after bad values have taken two and a half seconds', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const { batcher, batches } = createBatcher();
    const outcomes = Promise.allSettled([1, 2].map((item) => batcher.load(item)));
    await nextTurn();
    batches[0]?.reject(Object.assign(new Error('bad'), { code: '22003' }));
    await nextTurn();
    now.mockReturnValue(2501);
    batches[1]?.resolve(['1']);
    expect(await outcomes).toEqual([
      { status: 'fulfilled', value: '1' },
      { status: 'rejected', reason: expect.objectContaining({ reason: 'tooManyRejected' }) },
    ]);
  });

  it('rejects the queued items by rejectQueued, not those in flight, and continues', async () => {
    const { batcher, batches } = createBatcher();
    const first = batcher.load(1);
    await nextTurn();
    const queued = Promise.allSettled([2, 3].map((item) => batcher.load(item)));
    const away = new Error('away');
    batcher.rejectQueued(away);
    expect(await queued).toEqual([2, 3].map(() => ({ status: 'rejected', reason: away })));
    const later = batcher.load(4);
    batches[0]?.resolve(['1']);
    expect(await first).toBe('1');
    await nextTurn();
    await nextTurn();
    batches[1]?.resolve(['4']);
    expect(await later).toBe('4');
    expect(batches.map(({ items }) => items)).toEqual([[1], [4]]);
  });

  it('rejects the items of a batch that throws synchronously, and continues', async () => {
    let broken = true;
    const runBatch = (items: number[]) => {
      if (broken) {
        throw new Error('at once');
      }
      return Promise.resolve(texts(items));
    };
    const batcher = new Batcher(runBatch, { name: 'test' });
    await expect(batcher.load(1)).rejects.toThrow('at once');
    broken = false;
    expect(await batcher.load(2)).toBe('2');
  });

  it('rejects an item whose request has no time left, and loads the others', async () => {
    const { batcher, batches } = createBatcher();
    const first = batcher.load(1);
    await nextTurn();
    const late = withLastStart(performance.now(), () => batcher.load(2));
    void batcher.load(3);
    batches[0]?.resolve(['1']);
    await first;
    await expect(late).rejects.toMatchObject({ reason: 'REQUEST_DEADLINE' });
    expect(batches.map(({ items }) => items)).toEqual([[1], [3]]);
    expect(batcher.metrics.failures).toBe(1);
  });

  it('has the earliest deadline of its items, not that of the request that causes its start', async () => {
    const [soonMs, laterMs] = [performance.now() + 10_000, performance.now() + 20_000];
    const deadlines: number[] = [];
    const batcher = new Batcher<number, string>(
      async (items) => {
        deadlines.push(lastStartMs());
        await nextTurn();
        return texts(items);
      },
      { name: 'test' },
    );
    const results = [withLastStart(soonMs, () => batcher.load(1))];
    await nextTurn();
    results.push(withLastStart(laterMs, () => batcher.load(2)));
    await Promise.all(results);
    results.push(
      batcher.load(3),
      withLastStart(laterMs, () => batcher.load(4)),
    );
    results.push(withLastStart(soonMs, () => batcher.load(5)));
    await nextTurn();
    results.push(batcher.load(6));
    await Promise.all(results);
    expect(deadlines).toEqual([soonMs, laterMs, soonMs, Infinity]);
  });

  it('loads the other items again when no time is left for one of them', async () => {
    const { batcher, batches } = createBatcher();
    const late = withLastStart(performance.now() + 20, () => batcher.load(1));
    const other = batcher.load(2);
    await nextTurn();
    const lateError = late.catch((error: unknown) => error);
    await pause(40);
    batches[0]?.reject(requestDeadlineError());
    expect(isRequestDeadline(await lateError)).toBe(true);
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2], [2]]);
    batches[1]?.resolve(['2']);
    expect(await other).toBe('2');
  });

  it('rejects, rather than returns undefined, when a batch has fewer results than items', async () => {
    const batcher = new Batcher((items: number[]) => Promise.resolve(texts(items).slice(1)), {
      name: 'test',
    });
    await expect(batcher.load(1)).rejects.toBeInstanceOf(Error);
  });

  it('rejects with a failed batch only the items that were queued for a second', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const { batcher, batches } = createBatcher();
    const loaded = [batcher.load(1)];
    await nextTurn();
    loaded.push(batcher.load(2), batcher.load(3));
    now.mockReturnValue(1);
    loaded.push(batcher.load(4));
    const outcomes = Promise.allSettled(loaded);
    now.mockReturnValue(1000);
    batches[0]?.reject(new Error('away'));
    await nextTurn();
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [4]]);
    batches[1]?.resolve(['4']);
    expect(await outcomes).toMatchObject([
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
      { value: '4' },
    ]);
  });

  describe('with several batches in flight', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => jest.useRealTimers());

    it('sends the next batch beside a slow one, up to its limit, and queues again after that', async () => {
      const { batcher, batches } = createBatcher({ maxInFlight: () => 2 });
      const sent = () => batches.map(({ items }) => items);
      const loadLater = async (...items: number[]) => {
        items.forEach((item) => void batcher.load(item));
        await nextTurn();
      };
      await loadLater(1);
      await loadLater(2, 3);
      expect(sent()).toEqual([[1]]);
      jest.advanceTimersByTime(20);
      await nextTurn();
      expect(sent()).toEqual([[1], [2, 3]]);
      await loadLater(4);
      jest.advanceTimersByTime(20);
      await loadLater(5);
      expect(sent()).toHaveLength(2);

      batches[1]?.resolve(['2', '3']);
      await nextTurn();
      await nextTurn();
      expect(sent()).toEqual([[1], [2, 3], [4, 5]]);
      batches[0]?.resolve(['1']);
      await nextTurn();
      await loadLater(6);
      expect(sent()).toHaveLength(3);
    });
  });
});
