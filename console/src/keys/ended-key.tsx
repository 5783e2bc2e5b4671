import { Alert } from '@mantine/core';
import type { Key } from 'animal-store-client';
import { Instant } from '../format/instant';

/** Says since when a key no longer works, instead of showing its limits. */
export function EndedKey({ apiKey: { revokedAt, expiresAt } }: { apiKey: Key }) {
  return (
    <Alert
      color={revokedAt === null ? 'gray' : 'red'}
      title={revokedAt === null ? 'This key has expired' : 'This key is revoked'}
    >
      Since <Instant at={revokedAt ?? expiresAt} />, requests with this key get 401.
    </Alert>
  );
}
