import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DeadlineError, withinDeadline } from './deadline.js';

const never = new Promise<never>(() => {});

/** Keeps this process from everything else. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Nothing: that is the point.
  }
}

describe('a deadline', () => {
  it('lets an answer in time through, and a failure', async () => {
    await expect(withinDeadline(Promise.resolve(7), 50)).resolves.toBe(7);
    await expect(withinDeadline(Promise.reject(new Error('no')), 50)).rejects.toThrow('no');
  });

  it('ends the wait for an answer that does not come', async () => {
    const start = performance.now();
    await expect(withinDeadline(never, 60)).rejects.toThrow(DeadlineError);
    expect(performance.now() - start).toBeGreaterThanOrEqual(58);
  });

  it('has the code by which an error of a socket is known', async () => {
    await expect(withinDeadline(never, 3)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('takes an answer that came while this process was stopped, even in the last step', async () => {
    const server = net.createServer((socket) => socket.write('answer'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1').pause();
    await once(socket, 'connect');
    const answer = withinDeadline(once(socket, 'data'), 90);
    await pause(70);
    socket.resume();
    block(100);
    await expect(answer).resolves.toEqual([Buffer.from('answer')]);
    socket.destroy();
    server.close();
  });

  it('loses one step of three to a process that was stopped, however long', async () => {
    const start = performance.now();
    const answer = withinDeadline(never, 90);
    block(200);
    await expect(answer).rejects.toThrow(DeadlineError);
    expect(performance.now() - start).toBeGreaterThanOrEqual(200 + 55);
  });
});
