import type { IssuedKey, Key } from '../../admin/key.schemas.js';
import { limitsText } from '../limits-text.js';
import { printFacts, printJson, printLines } from '../output/print.js';

/** How a command prints. */
export interface Format {
  json?: true | undefined;
}

/** Prints all of a key but the key itself. */
export function printKey(key: Key, { json }: Format): void {
  if (json) {
    printJson(key);
  } else {
    printFacts(factsOf(key));
  }
}

/** Prints a key that was issued, with the key itself, this once. */
export function printIssued(issued: IssuedKey, { json }: Format): void {
  if (json) {
    printJson(issued);
    return;
  }
  printFacts({ key: issued.key, ...factsOf(issued) });
  printLines('The key is not shown again.');
}

/** Returns how a question names a key. */
export function keyText({ id, name }: Key): string {
  return `key "${name}" (${id})`;
}

function factsOf(key: Key) {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    plan: `${key.plan}, ${limitsText(key)}${key.ownLimits ? ' (its own)' : ''}`,
    state: key.state,
    shown: `${key.prefix}…${key.lastFour}`,
    quota: key.quotaId,
    issued: key.createdAt,
    expires: key.expiresAt ?? 'never',
    ...(key.revokedAt !== null && { revoked: key.revokedAt }),
    ...(key.bannedUntil !== null && { 'banned until': key.bannedUntil }),
    ...(key.predecessorId !== null && { succeeds: key.predecessorId }),
    ...(key.successorId !== null && { 'succeeded by': key.successorId }),
  };
}
