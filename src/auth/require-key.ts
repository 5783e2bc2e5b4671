import { ApiError } from '../http/api-error.js';
import { isUuid } from '../schemas/uuid.js';

/** Returns the error of a request for a key that does not exist. */
export function unknownKey(id: string): ApiError {
  return new ApiError('not_found', `There is no key with the id "${id}".`);
}

/**
 * Returns the stored key that `find` reads by an id, which a client may have made up.
 *
 * @throws ApiError `not_found`; the error of `find`.
 */
export async function requireKey<Key>(
  id: string,
  find: (where: { id: string }) => Promise<Key | null>,
): Promise<Key> {
  const key = isUuid(id) ? await find({ id }) : null;
  if (key === null) {
    throw unknownKey(id);
  }
  return key;
}
