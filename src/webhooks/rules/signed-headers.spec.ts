import { Webhook } from 'standardwebhooks';
import { generateSecret, signedHeaders } from './signed-headers.js';

const BODY = '{"type":"webhook.test"}';

describe('signedHeaders', () => {
  it('is verified by the reference library with each of the secrets, and with no other', () => {
    const secrets = [generateSecret(), generateSecret()];
    const headers = signedHeaders('7f9c2f2e', new Date(), BODY, secrets);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Animal-Store-Webhooks/1',
      'webhook-id': '7f9c2f2e',
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,\S+ v1,\S+$/),
    });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(BODY, headers)).toEqual({ type: 'webhook.test' });
    }
    expect(() => new Webhook(generateSecret()).verify(BODY, headers)).toThrow('No matching signature found');
  });
});

describe('generateSecret', () => {
  it('returns 32 random bytes in base64 after whsec_', () => {
    const secrets = [generateSecret(), generateSecret()];
    expect(new Set(secrets).size).toBe(2);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });
});
