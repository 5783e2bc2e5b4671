import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from '../../../src/app.js';
import { SERVICE } from '../../../src/audit/audit.js';
import type { IssuedKey, CreateKeyInput } from '../../../src/keys/key.schemas.js';
import { listenOn } from '../../../src/http/connections/listen.js';
import { KeyService } from '../../../src/keys/key.service.js';
import { type Environment, readEnvironment } from '../../../src/process/settings/environment.js';
import { TestClock } from '../time/clock.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { type HttpResponse, type Init, send } from '../http/http.js';
import { UNLIMITED } from '../keys/keys.js';
import { patiently } from '../database/patience.js';

export interface TestApplication {
  url: string;
  app: NestFastifyApplication;
  database: TestDatabase;
  clock: TestClock;
  issue(input?: Partial<CreateKeyInput>): Promise<IssuedKey>;
  close(): Promise<void>;
}

interface Options {
  environment?: Partial<Environment>;
  /** A database that the test owns. Default: a new one, dropped when the application closes. */
  database?: TestDatabase;
  clock?: TestClock;
  /** Where it listens, as HOST. Default: 127.0.0.1. */
  host?: string;
}

/** Starts the application before the tests of a file or a `describe`, and closes it after them. */
export function useApplication(options: Options | (() => Options) = {}): TestApplication {
  const application = {} as TestApplication;
  beforeAll(async () => {
    const given = typeof options === 'function' ? options() : options;
    Object.assign(application, await startApplication(given));
  });
  afterAll(() => application.close());
  return application;
}

/** Starts the real application on a real database and a free port. */
export async function startApplication({
  environment,
  database,
  clock = new TestClock(),
  host = '127.0.0.1',
}: Options = {}): Promise<TestApplication> {
  const store = database ?? (await createDatabase());
  await store.followTestTime();
  clock.travelToMinuteStart();
  const settings: Environment = {
    ...readEnvironment({
      NODE_ENV: 'test',
      APP_ENV: 'staging',
      LOG_LEVEL: 'silent',
      DATABASE_URL: store.url,
    }),
    ...environment,
  };
  const app = await createApplication(settings, clock);
  await listenOn(app.getHttpServer(), { host, port: 0, setting: 'PORT' }, (address) =>
    app.listen(0, address),
  );
  const keys = app.get(KeyService);
  return {
    url: await app.getUrl(),
    app,
    database: store,
    clock,
    issue: (input) => patiently(() => keys.issue({ name: 'test', plan: 'free', ...input }, SERVICE)),
    close: async () => {
      await app.close();
      if (database === undefined) {
        await store.drop();
      }
    },
  };
}

/** The application that the tests of a group share. */
interface SharedApplication extends TestApplication {
  /** A key whose limits no test reaches. */
  key: string;
  /** Sends a request, with that key unless `init` has another. */
  send: (path: string, init?: Init) => Promise<HttpResponse>;
}

/** Does as `useApplication`, and issues the key. */
export function shareApplication(options: Options = {}): SharedApplication {
  const shared = Object.assign(useApplication(options), {
    key: '',
    send: (path: string, init?: Init) => send(`${shared.url}${path}`, { key: shared.key, ...init }),
  });
  beforeAll(async () => {
    ({ key: shared.key } = await shared.issue(UNLIMITED));
  });
  return shared;
}

/**
 * Lists animals `count` times, one after another at one instant, so that a slow machine does not reach the
 * next second.
 */
export async function listPetsTimes(
  { url, clock }: TestApplication,
  key: string,
  count: number,
): Promise<HttpResponse[]> {
  clock.stopAt(new Date(clock.now()));
  const responses: HttpResponse[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    responses.push(await send(`${url}/v1/pets`, { key }));
  }
  clock.goOn();
  return responses;
}
