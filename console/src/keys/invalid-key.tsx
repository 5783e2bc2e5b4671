import { Alert } from '@mantine/core';
import type { Key } from 'animal-store-client';
import { Instant } from '../format/instant';

/** Says since when a key does not work, instead of showing its limits. */
export function InvalidKey({ apiKey: { state, revokedAt, suspendedAt, expiresAt } }: { apiKey: Key }) {
  const isSuspended = state === 'suspended';
  const { title, color } = TEXTS[state] ?? TEXTS.expired;
  return (
    <Alert color={color} title={title}>
      Since <Instant at={isSuspended ? suspendedAt : (revokedAt ?? expiresAt)} />, requests with this key get
      401{isSuspended && ', until you resume it. Its expiry goes on'}.
    </Alert>
  );
}

const EXPIRED = { title: 'This key has expired', color: 'gray' };
const TEXTS: Partial<Record<Key['state'], typeof EXPIRED>> & { expired: typeof EXPIRED } = {
  expired: EXPIRED,
  revoked: { title: 'This key is revoked', color: 'red' },
  suspended: { title: 'This key is suspended', color: 'violet' },
};
