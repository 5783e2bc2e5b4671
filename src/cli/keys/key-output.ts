import type { IssuedKey, Key, KeyWithUsage } from '../../admin/keys/key.schemas.js';
import { type Format, print, printFields, printLines } from '../output/print.js';

/** Prints a key without the key itself. */
export function printKey(key: Key | KeyWithUsage, format: Format): Promise<void> {
  return print(key, format, () => printFields(toFields(key)));
}

/** Prints a new key with the key itself, and then these lines. */
export function printIssued(issued: IssuedKey, format: Format, ...lines: string[]): Promise<void> {
  return print(issued, format, () => {
    printFields({ key: issued.key, ...toFields(issued) });
    printLines('The key is not shown again.', ...lines);
  });
}

/** Returns the text for a key in a confirmation. */
export function keyText({ id, name }: Key): string {
  return `key "${name}" (${id})`;
}

/** Returns the limits of a key or a plan as text. */
export function limitsText({ perMinute, perDay }: Pick<Key, 'perMinute' | 'perDay'>): string {
  return `${perMinute ?? 'no'} requests per minute, ${perDay ?? 'none'} per day`;
}

function toFields(key: Key | KeyWithUsage) {
  return {
    id: key.id,
    name: key.name,
    ...(key.note !== null && { note: key.note }),
    role: key.role,
    plan: `${key.plan}, ${limitsText(key)}${key.ownLimits ? ' (its own)' : ''}`,
    state: key.state,
    shown: `${key.prefix}…${key.lastFour}`,
    quota: key.quotaId,
    issued: key.createdAt,
    expires: key.expiresAt ?? 'never',
    ...('lastUsedAt' in key && { 'last used': key.lastUsedAt ?? 'never' }),
    ...(key.revokedAt !== null && { revoked: key.revokedAt }),
    ...(key.bannedUntil !== null && { 'banned until': key.bannedUntil }),
    ...(key.predecessorId !== null && { succeeds: key.predecessorId }),
    ...(key.successorId !== null && { 'succeeded by': key.successorId }),
  };
}
