import { requestIdIn } from './request-id.js';

const ID = '7f9c2f2e-5b0c-4c3a-9a51-0a3a3a5b7c11';

describe('requestIdIn', () => {
  it.each([
    ID,
    ` ${ID}\n`,
    `X-Request-Id: ${ID}`,
    `x-request-id: ${ID}`,
    `{"requestId":"${ID}","status":503}`,
    `My request id is "${ID}", thanks`,
    `The request id I got was ${ID}.`,
    `request id of the call: ${ID}`,
    `The request id of our call at 9 is '${ID}'.`,
    `request-id=${ID} status=503`,
    `Request ID: "${ID}"`,
    `Hello, my request ${ID} failed 2 times this morning.`,
    `Try again shortly. If the problem persists, contact us and quote request id ${ID}.`,
  ])('returns the id in %j', (text) => {
    expect(requestIdIn(text)).toBe(ID);
  });

  it.each(['host/Ab3-000001', 'request-id-7', 'a=b:c+d@e', '1', 'host-7.', 'ab:'])(
    'returns %j as it is',
    (id) => {
      expect(requestIdIn(id)).toBe(id);
    },
  );

  it('returns the longest word with a digit of a sentence, and a sentence without one as it is', () => {
    expect(requestIdIn('Hello, my request ticket-4711 failed at 9.')).toBe('ticket-4711');
    expect(requestIdIn('X-Request-Id: abc')).toBe('abc');
    expect(requestIdIn('Hello, my request failed')).toBe('Hello, my request failed');
  });

  it('returns an empty text for one without an id, and cuts a longer one than the service accepts', () => {
    expect(requestIdIn('  ')).toBe('');
    expect(requestIdIn('a'.repeat(129))).toHaveLength(128);
  });
});
