import { Turns } from './turns.js';

/** Returns turns of at most `max`, the names of what was started, and the ends of it by name. */
function createTurns(max: number) {
  const turns = new Turns(max);
  const started: string[] = [];
  const ends: Record<string, () => void> = {};
  const take = (name: string, owner?: string) =>
    turns.take((end) => {
      started.push(name);
      ends[name] = end;
    }, owner);
  return { turns, started, take, end: (name: string) => ends[name]?.() };
}

describe('Turns', () => {
  it('gives an owner one turn at a time, in the order in which it came', () => {
    const { turns, started, take, end } = createTurns(3);
    ['a1', 'a2', 'a3'].forEach((name) => take(name, 'a'));
    expect(started).toEqual(['a1']);
    expect(turns.waitingCount).toBe(2);
    end('a1');
    end('a2');
    expect(started).toEqual(['a1', 'a2', 'a3']);
    expect(turns.waitingCount).toBe(0);
  });

  it('gives others a turn beside a busy owner, up to the maximum', () => {
    const { started, take, end } = createTurns(2);
    take('a1', 'a');
    take('a2', 'a');
    take('b1', 'b');
    take('c1', 'c');
    expect(started).toEqual(['a1', 'b1']);
    end('b1');
    expect(started).toEqual(['a1', 'b1', 'c1']);
  });

  it('lets owners alternate, however many each has waiting', () => {
    const { started, take, end } = createTurns(1);
    ['a1', 'a2', 'a3', 'a4'].forEach((name) => take(name, 'a'));
    take('b1', 'b');
    take('b2', 'b');
    take('c1', 'c');
    for (let turn = 0; turn < 7; turn += 1) {
      end(started[turn]!);
    }
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('gives those without an owner as many turns as there are', () => {
    const { started, take, end } = createTurns(2);
    ['x', 'y', 'z'].forEach((name) => take(name));
    expect(started).toEqual(['x', 'y']);
    end('x');
    expect(started).toEqual(['x', 'y', 'z']);
  });

  it('skips owners that no longer wait', () => {
    const { turns, started, take, end } = createTurns(1);
    take('a1', 'a');
    const giveUp = [take('b1', 'b'), take('b2', 'b'), take('c1', 'c')];
    take('c2', 'c');
    giveUp.forEach((each) => each());
    giveUp.forEach((each) => each());
    expect(turns.waitingCount).toBe(1);
    end('a1');
    expect(started).toEqual(['a1', 'c2']);
    end('c2');
    take('b3', 'b');
    expect(started).toEqual(['a1', 'c2', 'b3']);
  });

  it('continues when a turn ends as it starts', () => {
    const turns = new Turns(1);
    let end = () => {};
    turns.take((first) => (end = first), 'a');
    const started = Array.from({ length: 1000 }, () => {
      const start = jest.fn((endOwn: () => void) => endOwn());
      turns.take(start, 'b');
      return start;
    });
    end();
    started.forEach((start) => expect(start).toHaveBeenCalledTimes(1));
    expect(turns.waitingCount).toBe(0);
  });
});
