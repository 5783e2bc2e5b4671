import net from 'node:net';
import { once } from 'node:events';
import { freePort } from '../service/free-port.js';
import { hasRedis, startRedis } from './redis.js';

(hasRedis() ? describe : describe.skip)('startRedis', () => {
  it('ends a server that accepts no commands', async () => {
    const port = await freePort();
    await expect(startRedis({ requirepass: 'unknown' }, port, 300)).rejects.toThrow('did not come about');
    const [error] = await once(net.connect(port, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});
