import type { IssuedKey, Key, KeyWithUsage } from '../../admin/key.schemas.js';
import { limitsText } from '../limits-text.js';
import { printFields, printJson, printLines } from '../output/print.js';

/** The output format of a command. */
export interface Format {
  json?: true | undefined;
}

/** Prints a key without the key itself. */
export function printKey(key: Key | KeyWithUsage, { json }: Format): void {
  if (json) {
    printJson(key);
  } else {
    printFields(fieldsOf(key));
  }
}

/** Prints a new key with the key itself. */
export function printIssued(issued: IssuedKey, { json }: Format): void {
  if (json) {
    printJson(issued);
    return;
  }
  printFields({ key: issued.key, ...fieldsOf(issued) });
  printLines('The key is not shown again.');
}

/** Returns the text for a key in a confirmation. */
export function keyText({ id, name }: Key): string {
  return `key "${name}" (${id})`;
}

function fieldsOf(key: Key | KeyWithUsage) {
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
