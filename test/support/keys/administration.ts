import type { IssuedKey, CreateKeyInput } from '../../../src/admin/keys/key.schemas.js';
import type { TestDatabase } from '../database/database.js';
import { startApplication, type TestApplication } from '../service/application.js';
import { type HttpResponse, send } from '../http/http.js';

export interface Administration {
  store: TestApplication;
  /** The key of all requests. */
  administrator: IssuedKey;
  /** Sends a request as the administrator. `request` is a method and a path, such as `GET /admin/keys`. */
  send: (request: string, body?: unknown) => Promise<HttpResponse>;
  /** Issues a key by HTTP; a client's on plan Free by default. */
  issue: (input?: Record<string, unknown>) => Promise<IssuedKey>;
}

const WIDE: Partial<CreateKeyInput> = { plan: 'enterprise', perMinute: 1_000_000, perDay: 10_000_000 };

/** Starts the service, on a database that the test owns or a new one, and issues an administrator's key whose limits a test file does not reach. */
export async function startAdministration(database?: TestDatabase): Promise<Administration> {
  const store = await startApplication(database && { database });
  const administrator = await store.issue({ ...WIDE, name: 'administrator', role: 'admin' });
  const sendAsAdmin = (request: string, body?: unknown) => {
    const [method = '', path = ''] = request.split(' ');
    return send(store.url + path, { method, key: administrator.key, body });
  };
  return {
    store,
    administrator,
    send: sendAsAdmin,
    issue: async (input) => {
      const { status, json, text } = await sendAsAdmin('POST /admin/keys', {
        name: 'test',
        plan: 'free',
        ...input,
      });
      if (status !== 201) {
        throw new Error(`No key was issued: ${text}`);
      }
      return json;
    },
  };
}
