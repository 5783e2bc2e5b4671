import { ApiError } from '../http/api-error.js';

/** Returns the error of a request for a key that does not exist. */
export function unknownKey(id: string): ApiError {
  return new ApiError('not_found', `There is no key with the id "${id}".`);
}
