import net from 'node:net';
import { once } from 'node:events';
import { freePort } from './free-port.js';
import { hasRedis, startRedis } from './redis.js';

const itWithRedis = hasRedis() ? it : it.skip;

itWithRedis('a server of a test that cannot be asked anything does not outlive its start', async () => {
  const port = await freePort();
  await expect(startRedis({ requirepass: 'unknown' }, port, 300)).rejects.toThrow('did not come about');
  const [error] = await once(net.connect(port, '127.0.0.1'), 'error');
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
});
