import type { IssuedKey, Key, KeyWithUsage } from '../keys/key.schemas.js';
import { fieldsText, linesText, type Output } from './output/text.js';

/** Returns the output of a key without the key itself, and then these lines. */
export function keyOutput(key: Key | KeyWithUsage, ...lines: string[]): Output {
  return { value: key, text: () => fieldsText(toFields(key)) + linesText(...lines) };
}

/** Returns the output of a new key with the key itself, and then these lines. */
export function issuedOutput(issued: IssuedKey, ...lines: string[]): Output {
  const text = () =>
    fieldsText({ key: issued.key, ...toFields(issued) }) + linesText('The key is not shown again.', ...lines);
  return { value: issued, text };
}

/** Returns the text for a key in a confirmation. */
export function keyText({ id, name }: Key): string {
  return `key "${name}" (${id})`;
}

/** Returns the limits of a key or a plan as text. */
export function limitsText({ perMinute, perDay }: Pick<Key, 'perMinute' | 'perDay'>): string {
  return `${perMinute ?? 'no'} requests per minute, ${perDay ?? 'none'} per day`;
}

/** Returns a line about limits of which the minute's can never be reached. */
export function limitWarnings({ perMinute, perDay }: Pick<Key, 'perMinute' | 'perDay'>): string[] {
  return perMinute !== null && perDay !== null && perMinute > perDay
    ? ['Warning: the limit per minute is above that per day, so only the limit per day has an effect.']
    : [];
}

function toFields(key: Key | KeyWithUsage) {
  return {
    id: key.id,
    name: key.name,
    note: key.note ?? undefined,
    role: key.role,
    scopes: key.scopes?.join(', '),
    'allowed networks': key.allowedNetworks?.join(', '),
    plan: `${key.plan}, ${limitsText(key)}${key.ownLimits ? ' (its own)' : ''}`,
    state: key.state,
    shown: `${key.prefix}…${key.lastFour}`,
    quota: key.quotaId,
    issued: key.createdAt,
    expires: key.expiresAt ?? 'never',
    'last used': 'lastUsedAt' in key ? (key.lastUsedAt ?? 'never') : undefined,
    revoked: key.revokedAt ?? undefined,
    'banned until': key.bannedUntil ?? undefined,
    succeeds: key.predecessorId ?? undefined,
    'succeeded by': key.successorId ?? undefined,
    'issued by': key.issuerId ?? undefined,
  };
}
