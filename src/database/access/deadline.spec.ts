import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineError, withinDeadline } from './deadline.js';

const never = new Promise<never>(() => {});

/** Blocks the process. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Busy waiting blocks the event loop.
  }
}

/** Returns a function that blocks the process for `blockedMs`, and then runs its timers for `ms`. */
function blockableClock(): (ms: number, blockedMs?: number) => Promise<void> {
  const monotonicMs = performance.now.bind(performance);
  let totalBlockedMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + totalBlockedMs);
  return async (ms, blockedMs = 0) => {
    totalBlockedMs += blockedMs;
    await jest.advanceTimersByTimeAsync(ms);
    await nextTurn();
  };
}

describe('withinDeadline', () => {
  it('settles as the promise does in time', async () => {
    await expect(withinDeadline(Promise.resolve(7), 50)).resolves.toBe(7);
    await expect(withinDeadline(Promise.reject(new Error('no')), 50)).rejects.toThrow('no');
  });

  it('rejects with the code of a socket timeout, and a message that names the deadline', async () => {
    await expect(withinDeadline(never, 3)).rejects.toThrow(DeadlineError);
    await expect(withinDeadline(never, 3)).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: 'There was no response within 3 ms',
    });
  });

  describe('with fake timers', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => {
      jest.restoreAllMocks();
      jest.useRealTimers();
    });

    it('rejects at the deadline', async () => {
      const rejected = jest.fn();
      withinDeadline(never, 60).catch(rejected);
      await jest.advanceTimersByTimeAsync(59);
      await nextTurn();
      expect(rejected).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      await nextTurn();
      expect(rejected).toHaveBeenCalledTimes(1);
    });

    it('leaves no timer once the promise has settled', async () => {
      await withinDeadline(Promise.resolve(), 60);
      await expect(withinDeadline(Promise.reject(new Error('no')), 60)).rejects.toThrow('no');
      await jest.advanceTimersByTimeAsync(0);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('does not count the time in which this process was blocked', async () => {
      const pass = blockableClock();
      const rejected = jest.fn();
      withinDeadline(never, 90).catch(rejected);
      await pass(9, 200);
      await pass(81);
      expect(rejected).not.toHaveBeenCalled();
      await pass(9);
      expect(rejected).toHaveBeenCalledWith(expect.objectContaining({ wasLate: false }));
    });

    it('rejects as late after four times the deadline when this process is late all the time', async () => {
      const pass = blockableClock();
      const rejected = jest.fn();
      withinDeadline(never, 90).catch(rejected);
      for (let step = 0; step < 4; step += 1) {
        await pass(9, 80);
      }
      expect(rejected).not.toHaveBeenCalled();
      await pass(9, 80);
      expect(rejected).toHaveBeenCalledWith(expect.objectContaining({ wasLate: true }));
    });
  });

  it('accepts a result that arrived while this process was blocked, even in the last step', async () => {
    const server = net.createServer((socket) => socket.write('result'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1').pause();
    await once(socket, 'connect');
    const result = withinDeadline(once(socket, 'data'), 90);
    await pause(70);
    socket.resume();
    block(100);
    await expect(result).resolves.toEqual([Buffer.from('result')]);
    socket.destroy();
    server.close();
  });
});
