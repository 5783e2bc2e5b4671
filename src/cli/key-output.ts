import type { IssuedKey, Key, KeyWithUsage } from '../keys/key.schemas.js';
import { fieldsText, linesText, type Output } from './output/text.js';

/** What stands for a limit that the plan leaves to its quotas. */
export const SET_FOR_EACH_QUOTA = 'set for each quota';

/** Returns the output of a key without the key itself, and then these lines. */
export function keyOutput(key: Key | KeyWithUsage, ...lines: string[]): Output {
  const text = () => fieldsText(toFields(key)) + linesText(...lines);
  return { value: key, text, warnings: key.warnings };
}

/** Returns the output of a new key with the key itself, and then these lines. */
export function issuedOutput(issued: IssuedKey, ...lines: string[]): Output {
  const text = () =>
    fieldsText({ key: issued.key, ...toFields(issued) }) + linesText('The key is not shown again.', ...lines);
  return { value: issued, text, warnings: issued.warnings };
}

export function keyText({ id, name }: Key): string {
  return `key "${name}" (${id})`;
}

/** Returns the limits of a key or a plan as text; those of a plan without numbers are set for each quota. */
export function limitsText({ perMinute, perDay }: Pick<Key, 'perMinute' | 'perDay'>): string {
  return perMinute === null && perDay === null
    ? `limits ${SET_FOR_EACH_QUOTA}`
    : `${perMinute ?? SET_FOR_EACH_QUOTA} requests per minute, ${perDay ?? SET_FOR_EACH_QUOTA} per day`;
}

/** Returns the name of a quota's plan and the limits in force as text. */
export function planText(quota: Pick<Key, 'plan' | 'perMinute' | 'perDay' | 'limitsSource'>): string {
  return `${quota.plan}, ${limitsText(quota)}${quota.limitsSource === 'quota' ? ' (its own)' : ''}`;
}

function toFields(key: Key | KeyWithUsage) {
  return {
    id: key.id,
    name: key.name,
    note: key.note ?? undefined,
    role: key.role,
    scopes: listText(key.scopes),
    'allowed networks': listText(key.allowedNetworks),
    plan: planText(key),
    state: key.state,
    shown: `${key.prefix}…${key.lastFour}`,
    quota: key.quotaId,
    'external id': key.externalId ?? undefined,
    issued: key.createdAt,
    expires: key.expiresAt ?? 'never',
    'last used': 'lastUsedAt' in key ? (key.lastUsedAt ?? 'never') : undefined,
    revoked: key.revokedAt ?? undefined,
    suspended: key.suspendedAt ?? undefined,
    'banned until': key.bannedUntil ?? undefined,
    succeeds: key.predecessorId ?? undefined,
    'succeeded by': key.successorId ?? undefined,
    'issued by': key.issuerId ?? undefined,
  };
}

/** Null is no restriction. */
function listText(list: string[] | null): string | undefined {
  return list?.length === 0 ? 'none' : list?.join(', ');
}
