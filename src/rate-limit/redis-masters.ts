import { Cluster, Command, type Redis } from 'ioredis';
import { DeadlineError, withinDeadline } from './deadline.js';
import type { RedisClient } from './redis-client.js';
import { NotConnectedError } from './redis-failure.js';

/**
 * Every master that has slots, and so keys; of a single server, that.
 *
 * @throws NotConnectedError when the driver has given up the connection to one of them.
 */
export function mastersOf(client: RedisClient): Redis[] {
  if (!(client instanceof Cluster)) {
    return [client];
  }
  const connections = connectionsOf(client);
  const addresses = new Set(client.slots.flatMap(([master = '']) => master));
  return [...addresses].map((address) => {
    const master = connections.get(address);
    if (master === undefined) {
      throw new NotConnectedError();
    }
    return master;
  });
}

/**
 * Tells of a key whether its master is connected now. What the driver is asked without that fails in ways that leave open
 * whether it was sent.
 */
export function connectedKeys(client: RedisClient): (key: string) => boolean {
  if (!(client instanceof Cluster)) {
    return () => client.status === 'ready';
  }
  const connections = connectionsOf(client);
  return (key) => {
    const [master = ''] = client.slots[new Command('exists', [key]).getSlot()] ?? [];
    return connections.get(master)?.status === 'ready';
  };
}

/**
 * Asks every master for a sign of life, and gives up the connection to who gives none.
 *
 * @throws DeadlineError, or the driver's error, when one of them gives none.
 */
export async function expectLife(client: RedisClient, deadlineMs: number): Promise<void> {
  if (client instanceof Cluster) {
    // Those connected come first, as the driver might request one of them that hangs who the masters are.
    await Promise.all(client.nodes('master').map((master) => expectAnswer(master, deadlineMs)));
    // It has forgotten masters whose connection was lost, and finds them again by that.
    await rediscover(client);
  }
  await Promise.all(mastersOf(client).map((master) => expectAnswer(master, deadlineMs)));
}

/** Asks the Cluster who its masters are. Those that are not connected are connected to. */
export function rediscover(cluster: Cluster): Promise<void> {
  return new Promise((resolve, reject) => {
    cluster.refreshSlotsCache((error) => (error ? reject(error) : resolve()));
  });
}

async function expectAnswer(server: Redis, deadlineMs: number): Promise<void> {
  try {
    await withinDeadline(server.ping(), deadlineMs);
  } catch (error) {
    if (error instanceof DeadlineError) {
      // Told as the driver tells why a connection is lost, to whoever listens.
      server.emit('error', error);
      server.disconnect();
    }
    throw error;
  }
}

function connectionsOf(cluster: Cluster): Map<string, Redis> {
  return new Map(cluster.nodes('master').map((node) => [`${node.options.host}:${node.options.port}`, node]));
}
