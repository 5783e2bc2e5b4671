import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Returns a new secret, as Standard Webhooks serializes it; it allows 24 to 64 bytes. */
export function generateSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Returns the headers of a delivery, among them those of Standard Webhooks, with one signature by each
 * secret.
 *
 * @param id identifies the event, the same for every receiver and in every attempt.
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
