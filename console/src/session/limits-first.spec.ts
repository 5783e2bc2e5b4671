import { limitsFirst } from './limits-first';

jest.mock('../address/service-root', () => ({ SERVICE_ROOT: 'https://store.example/' }));

const LIMITS = 'https://store.example/v1/rate-limit';
const PETS = 'https://store.example/v1/pets';
const WINDOW = { name: 'minute', limit: 60, remaining: 60, reset: 0 };

/** Sends a request for the pets first, and returns the response and the addresses of all requests. */
async function sendFirst(...responses: Response[]): Promise<{ response: Response; sent: string[] }> {
  const sent: string[] = [];
  const fetching = jest.spyOn(globalThis, 'fetch').mockImplementation((input) => {
    sent.push(input instanceof Request ? input.url : String(input));
    return Promise.resolve(responses.shift() ?? Response.error());
  });
  try {
    return { response: await limitsFirst()(new Request(PETS)), sent };
  } finally {
    fetching.mockRestore();
  }
}

describe('limitsFirst', () => {
  it('sends the request after the limits if they have room for it', async () => {
    const limits = Response.json({ bannedUntil: null, windows: [WINDOW] });
    const { response, sent } = await sendFirst(limits, Response.json('pets'));
    expect(await response.json()).toBe('pets');
    expect(sent).toEqual([LIMITS, PETS]);
  });

  it('answers itself that a limit is reached', async () => {
    const limits = Response.json({ bannedUntil: null, windows: [{ ...WINDOW, remaining: 0 }] });
    const { response, sent } = await sendFirst(limits);
    expect(response.status).toBe(429);
    expect(sent).toEqual([LIMITS]);
  });

  it('sends a rejected key only once, and passes on why it was rejected', async () => {
    const rejection = { code: 'invalid_api_key', message: 'The API key was revoked.' };
    const { response, sent } = await sendFirst(Response.json(rejection, { status: 401 }));
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual(rejection);
    expect(sent).toEqual([LIMITS]);
  });

  it('leaves it to the request to fail if the limits cannot be read', async () => {
    const { response, sent } = await sendFirst(new Response(null, { status: 503 }), Response.json('pets'));
    expect(await response.json()).toBe('pets');
    expect(sent).toEqual([LIMITS, PETS]);
  });
});
