import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32;

/** Returns a new secret, as Standard Webhooks serializes it. */
export function generateSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Returns the headers of a delivery, among them those of Standard Webhooks, with one signature by each secret.
 *
 * @param id the same in every attempt.
 * @param at the time of this attempt.
 */
export function signedHeaders(id: string, at: Date, body: string, secrets: string[]): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Animal-Store-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}
