import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DeadlineError, withinDeadline } from './deadline.js';

const never = new Promise<never>(() => {});

/** Blocks the process. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Busy waiting blocks the event loop.
  }
}

describe('withinDeadline', () => {
  it('settles as the promise does in time', async () => {
    await expect(withinDeadline(Promise.resolve(7), 50)).resolves.toBe(7);
    await expect(withinDeadline(Promise.reject(new Error('no')), 50)).rejects.toThrow('no');
  });

  it('rejects with DeadlineError when the promise does not settle', async () => {
    const start = performance.now();
    await expect(withinDeadline(never, 60)).rejects.toThrow(DeadlineError);
    expect(performance.now() - start).toBeGreaterThanOrEqual(58);
  });

  it('rejects with the code of a socket timeout', async () => {
    await expect(withinDeadline(never, 3)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('accepts a result that arrived while this process was blocked, even in the last step', async () => {
    const server = net.createServer((socket) => socket.write('answer'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1').pause();
    await once(socket, 'connect');
    const result = withinDeadline(once(socket, 'data'), 90);
    await pause(70);
    socket.resume();
    block(100);
    await expect(result).resolves.toEqual([Buffer.from('answer')]);
    socket.destroy();
    server.close();
  });

  it('loses one step of three while this process is blocked, however long', async () => {
    const start = performance.now();
    const result = withinDeadline(never, 90);
    block(200);
    await expect(result).rejects.toThrow(DeadlineError);
    expect(performance.now() - start).toBeGreaterThanOrEqual(200 + 55);
  });
});
