import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from '../src/application.js';
import { Clock } from '../src/clock.js';
import { readEnvironment } from '../src/environment.js';
import { type ServiceHome, sharedStores } from './support/counter-stores.js';
import { type Answer, send } from './support/http.js';
import { issueKey } from './support/keys.js';

const MINUTE_MS = 60_000;

/** The clock of a replica that is five minutes ahead. Its store's is right. */
class ClockAhead extends Clock {
  override now(): number {
    return super.now() + 5 * MINUTE_MS;
  }
}

/** The clock of one that is five minutes behind. */
class ClockBehind extends Clock {
  override now(): number {
    return super.now() - 5 * MINUTE_MS;
  }
}

const told = ({ headers }: Answer) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

describe.each(sharedStores)('counted in %s,', (_name, start) => {
  let home: ServiceHome;
  let replicas: NestFastifyApplication[];
  let urls: string[];

  beforeAll(async () => {
    home = await start();
    const settings = readEnvironment({ ...home.settings, LOG_LEVEL: 'silent', BAN_DURATIONS: '' });
    replicas = await Promise.all(
      [new Clock(), new ClockAhead(), new ClockBehind()].map((clock) => createApplication(settings, clock)),
    );
    urls = [];
    for (const replica of replicas) {
      await replica.listen(0, '127.0.0.1');
      urls.push(await replica.getUrl());
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await home.stop();
  });

  it('a replica whose own clock is five minutes off changes nothing: one window, one reset, one count', async () => {
    // What follows is to be of one minute, by the real clock of the store; a day is long enough to miss its edge.
    const { key } = await issueKey(home.database, { plan: 'enterprise', perMinute: 1_000_000, perDay: 60 });
    const answers = await Promise.all(
      Array.from({ length: 210 }, (_, index) => send(`${urls[index % urls.length]}/v1/pets`, { key })),
    );
    const dayEnd = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
    const served = answers.filter(({ status }) => status === 200);
    expect(served.map(told).toSorted(([, a = 0], [, b = 0]) => b - a)).toEqual(
      Array.from({ length: 60 }, (_, index) => [60, 59 - index, dayEnd]),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(150);
    expect(new Set(refused.map((answer) => String(told(answer))))).toEqual(new Set([`60,0,${dayEnd}`]));
  });
});
