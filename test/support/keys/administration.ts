import type { IssuedKey } from '../../../src/keys/key.schemas.js';
import { type TestApplication, useApplication } from '../service/application.js';
import { type HttpResponse, send } from '../http/http.js';
import { UNLIMITED } from './keys.js';

interface Administration {
  store: TestApplication;
  /** The key of all requests. */
  administrator: IssuedKey;
  /** Sends a request as the administrator. `request` is a method and a path, such as `GET /admin/keys`. */
  send: (request: string, body?: unknown) => Promise<HttpResponse>;
  /** Issues a key by HTTP; a client's on plan Free by default. */
  issue: (input?: Record<string, unknown>) => Promise<IssuedKey>;
}

/**
 * Starts the service for the tests of a file, and issues an administrator's key whose limits they do not
 * reach.
 */
export function useAdministration(options?: Parameters<typeof useApplication>[0]): Administration {
  const store = useApplication(options);
  const administrator = {} as IssuedKey;
  beforeAll(async () => {
    const issued = await store.issue({ ...UNLIMITED, name: 'administrator', role: 'admin' });
    Object.assign(administrator, issued);
  });
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
