import { ApiError } from '../http/routes/api-error.js';
import { isUuid } from '../schemas/uuid.js';

type RecordKind = 'key' | 'quota' | 'webhook';

export function unknownRecord(kind: RecordKind, id: string): ApiError {
  return new ApiError('not_found', `There is no ${kind} with the id "${id}".`);
}

/**
 * Returns what `find` reads by an id, which a client may have made up.
 *
 * @throws ApiError `not_found`; the error of `find`.
 */
export async function requireRecord<Found>(
  kind: RecordKind,
  id: string,
  find: (where: { id: string }) => Promise<Found | null>,
): Promise<Found> {
  const found = isUuid(id) ? await find({ id }) : null;
  if (found === null) {
    throw unknownRecord(kind, id);
  }
  return found;
}
