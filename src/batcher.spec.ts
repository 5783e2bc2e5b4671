import { setImmediate as nextTurn } from 'node:timers/promises';
import { Batcher, BatchItemError } from './batcher.js';

/** One question under way, which the test answers. */
interface Question {
  asks: number[];
  answer(answers: string[]): void;
  fail(reason: Error): void;
}

/** A batcher whose questions wait until the test answers them. */
function underTest(limits?: { maxBatch?: number; maxInFlight?: number }): {
  batcher: Batcher<number, string>;
  questions: Question[];
} {
  const questions: Question[] = [];
  const batcher = new Batcher<number, string>(
    (asks) =>
      new Promise<string[]>((answer, fail) => {
        questions.push({ asks, answer, fail });
      }),
    { name: 'test', ...limits },
  );
  return { batcher, questions };
}

/** The question of this number, which must be under way. */
function at(questions: Question[], index: number): Question {
  const question = questions[index];
  if (question === undefined) {
    throw new Error(`There is no question ${index}`);
  }
  return question;
}

const texts = (asks: number[]) => asks.map(String);

describe('a batcher', () => {
  afterEach(() => jest.restoreAllMocks());

  it('sends a lonely ask in the turn in which it arrives', async () => {
    const { batcher, questions } = underTest();
    void batcher.load(1);
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1]]);
  });

  it('sends all that arrive in one turn together', async () => {
    const { batcher, questions } = underTest();
    void batcher.load(1);
    await Promise.resolve();
    void batcher.load(2);
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1, 2]]);
  });

  it('has one question under way, and gathers what arrives meanwhile for the next', async () => {
    const { batcher, questions } = underTest();
    const first = batcher.load(1);
    await nextTurn();
    const rest = [batcher.load(2), batcher.load(3)];
    await nextTurn();
    rest.push(batcher.load(4));
    await nextTurn();
    expect(questions).toHaveLength(1);

    at(questions, 0).answer(['1']);
    expect(await first).toBe('1');
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1], [2, 3, 4]]);

    at(questions, 1).answer(['2', '3', '4']);
    expect(await Promise.all(rest)).toEqual(['2', '3', '4']);
  });

  it('gives each ask its own answer, in the order in which they arrived', async () => {
    const answerAll = async (asks: number[]) => {
      await nextTurn();
      return texts(asks);
    };
    const batcher = new Batcher(answerAll, { name: 'test' });
    const asks = Array.from({ length: 100 }, (_, index) => index);
    expect(await Promise.all(asks.map((ask) => batcher.load(ask)))).toEqual(texts(asks));
  });

  it('is ready for a lonely ask again when all are answered', async () => {
    const { batcher, questions } = underTest();
    const first = batcher.load(1);
    await nextTurn();
    at(questions, 0).answer(['1']);
    await first;
    await nextTurn();
    void batcher.load(2);
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1], [2]]);
  });

  it('serves an ask that is made in the very moment another is answered', async () => {
    const { batcher, questions } = underTest();
    const chained = batcher.load(1).then(() => batcher.load(2));
    await nextTurn();
    at(questions, 0).answer(['1']);
    await nextTurn();
    await nextTurn();
    at(questions, 1).answer(['2']);
    expect(await chained).toBe('2');
  });

  it('holds at most so many asks in a question; the rest go with the next, first come first', async () => {
    const { batcher, questions } = underTest({ maxBatch: 2 });
    const answers = [1, 2, 3, 4, 5].map((ask) => batcher.load(ask));
    const expected = [[1, 2], [3, 4], [5]];
    for (const [index, asks] of expected.entries()) {
      await nextTurn();
      expect(questions).toHaveLength(index + 1);
      expect(at(questions, index).asks).toEqual(asks);
      at(questions, index).answer(texts(asks));
      await nextTurn();
    }
    expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('rejects every ask of a question that fails, with its reason, and no other', async () => {
    const { batcher, questions } = underTest();
    const outcomes = Promise.allSettled([1, 2].map((ask) => batcher.load(ask)));
    await nextTurn();
    const later = batcher.load(3);
    at(questions, 0).fail(new Error('away'));
    await nextTurn();
    await nextTurn();
    at(questions, 1).answer(['3']);
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: new Error('away') },
      { status: 'rejected', reason: new Error('away') },
    ]);
    expect(await later).toBe('3');
  });

  it('rejects one ask alone, where only that one failed', async () => {
    const batcher = new Batcher<number, string>(
      (asks) =>
        Promise.resolve(asks.map((ask) => (ask === 2 ? new BatchItemError(new Error('bad')) : String(ask)))),
      { name: 'test' },
    );
    expect(await Promise.allSettled([1, 2, 3].map((ask) => batcher.load(ask)))).toEqual([
      { status: 'fulfilled', value: '1' },
      { status: 'rejected', reason: new Error('bad') },
      { status: 'fulfilled', value: '3' },
    ]);
  });

  it('takes a question that throws at once for one that fails, and goes on', async () => {
    let broken = true;
    const answerAll = (asks: number[]) => {
      if (broken) {
        throw new Error('at once');
      }
      return Promise.resolve(texts(asks));
    };
    const batcher = new Batcher(answerAll, { name: 'test' });
    await expect(batcher.load(1)).rejects.toThrow('at once');
    broken = false;
    expect(await batcher.load(2)).toBe('2');
  });

  it('rejects rather than answers nothing when a question has fewer answers than asks', async () => {
    const batcher = new Batcher((asks: number[]) => Promise.resolve(texts(asks).slice(1)), {
      name: 'test',
    });
    await expect(batcher.load(1)).rejects.toBeInstanceOf(Error);
  });

  it('dismisses those who wait for the next question, while the one under way goes on', async () => {
    const { batcher, questions } = underTest();
    const first = batcher.load(1);
    await nextTurn();
    const dismissed = Promise.allSettled([batcher.load(2), batcher.load(3)]);
    batcher.rejectQueued(new Error('too long'));
    expect(await dismissed).toMatchObject([
      { reason: { message: 'too long' } },
      { reason: { message: 'too long' } },
    ]);
    at(questions, 0).answer(['1']);
    expect(await first).toBe('1');
    const fourth = batcher.load(4);
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1], [4]]);
    at(questions, 1).answer(['4']);
    expect(await fourth).toBe('4');
  });

  it('asks nothing when all who wait were dismissed', async () => {
    const { batcher, questions } = underTest();
    const dismissed = batcher.load(1);
    batcher.rejectQueued(new Error('too long'));
    await expect(dismissed).rejects.toThrow('too long');
    await nextTurn();
    expect(questions).toHaveLength(0);
  });

  it('sends away with a question that fails those who have waited for a second, and nobody else', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const { batcher, questions } = underTest();
    const asked = [batcher.load(1)];
    await nextTurn();
    asked.push(batcher.load(2), batcher.load(3));
    now.mockReturnValue(1);
    asked.push(batcher.load(4));
    const outcomes = Promise.allSettled(asked);
    now.mockReturnValue(1000);
    at(questions, 0).fail(new Error('away'));
    await nextTurn();
    await nextTurn();
    expect(questions.map(({ asks }) => asks)).toEqual([[1], [4]]);
    at(questions, 1).answer(['4']);
    expect(await outcomes).toMatchObject([
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
      { value: '4' },
    ]);
  });

  describe('that may have several questions under way', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => jest.useRealTimers());

    it('sends the next beside one that is slow, and gathers again behind it', async () => {
      const { batcher, questions } = underTest({ maxInFlight: 2 });
      void batcher.load(1);
      await nextTurn();
      void batcher.load(2);
      void batcher.load(3);
      await nextTurn();
      expect(questions).toHaveLength(1);

      jest.advanceTimersByTime(20);
      await nextTurn();
      expect(questions.map(({ asks }) => asks)).toEqual([[1], [2, 3]]);
      void batcher.load(4);
      await nextTurn();
      expect(questions).toHaveLength(2);
    });

    it('never has more of them than it may, however slow they are', async () => {
      const { batcher, questions } = underTest({ maxInFlight: 2 });
      for (const ask of [1, 2, 3]) {
        void batcher.load(ask);
        await nextTurn();
        jest.advanceTimersByTime(20);
        await nextTurn();
      }
      expect(questions).toHaveLength(2);

      at(questions, 1).answer(['2']);
      await nextTurn();
      await nextTurn();
      expect(questions.map(({ asks }) => asks)).toEqual([[1], [2], [3]]);
    });

    it('gathers as ever when the slow one has been answered', async () => {
      const { batcher, questions } = underTest({ maxInFlight: 2 });
      void batcher.load(1);
      await nextTurn();
      jest.advanceTimersByTime(20);
      at(questions, 0).answer(['1']);
      await nextTurn();
      for (const ask of [2, 3]) {
        void batcher.load(ask);
        await nextTurn();
      }
      expect(questions.map(({ asks }) => asks)).toEqual([[1], [2]]);
    });
  });
});
