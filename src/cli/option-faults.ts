import type { ApiError } from '../http/routes/api-error.js';

/** The option that gives a field of the service. */
const OPTIONS = new Map([
  ['name', '--name'],
  ['note', '--note'],
  ['plan', '--plan'],
  ['perMinute', '--per-minute'],
  ['perDay', '--per-day'],
  ['maxKeyLifetimeDays', '--max-key-lifetime-days'],
  ['externalId', '--external-id'],
  ['expiresAt', '--expires'],
  ['scopes', '--scopes'],
  ['allowedNetworks', '--networks'],
  ['quotaId', '--quota'],
  ['keyId', '--key'],
  ['since', '--since'],
  ['until', '--until'],
  ['url', '--url'],
  ['events', '--events'],
]);

const FAULT = /^The request is invalid: ((\w+).*)$/s;
/** Fields that no sentence contains as words, and the start or end of a range. */
const LATER_FIELD = /\b(?:[a-z]+[A-Z]\w*|until(?=\.$))/g;

/** Returns what the service says of a field with the name of its option, or null if it speaks of none. */
export function faultOfOption({ code, message }: ApiError): string | null {
  const [, fault = '', field = ''] = FAULT.exec(message) ?? [];
  const option = OPTIONS.get(field);
  if (code !== 'invalid_request' || option === undefined) {
    return null;
  }
  const rest = fault.slice(field.length);
  return option + rest.replaceAll(LATER_FIELD, (word) => OPTIONS.get(word) ?? word);
}
