import { ApiError } from '../http/api-error.js';
import { isUuid } from '../schemas/uuid.js';

/** Returns the error of a request for a quota that does not exist. */
export function unknownQuota(id: string): ApiError {
  return new ApiError('not_found', `There is no quota with the id "${id}".`);
}

/**
 * Returns the stored quota that `find` reads by an id, which a client may have made up.
 *
 * @throws ApiError `not_found`; the error of `find`.
 */
export async function requireQuota<Quota>(
  id: string,
  find: (where: { id: string }) => Promise<Quota | null>,
): Promise<Quota> {
  const quota = isUuid(id) ? await find({ id }) : null;
  if (quota === null) {
    throw unknownQuota(id);
  }
  return quota;
}
