import { ApiError } from '../errors/api-error.js';
import type { Deprecation } from './deprecated.decorator.js';

/**
 * The error of an operation that is removed at `nowMs`, or null while it still answers.
 *
 * @param method of the request.
 */
export function removalError(
  { removal, replacement }: Deprecation,
  method: string,
  nowMs: number,
): ApiError | null {
  if (nowMs < removal.getTime()) {
    return null;
  }
  // HEAD is answered as GET is.
  const successor = `${method === 'HEAD' ? 'GET' : method} ${replacement}`;
  return new ApiError(
    'endpoint_removed',
    `This operation was removed on ${removal.toISOString().slice(0, 10)}. Use ${successor} instead.`,
  );
}
