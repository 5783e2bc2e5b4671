import { ApiError } from './api-error.js';

/** @throws ApiError `invalid_request` if a range does not end after it starts. */
export function requireRange({ since, until }: { since?: Date | undefined; until?: Date | undefined }): void {
  if (since !== undefined && until !== undefined && since >= until) {
    throw new ApiError('invalid_request', 'The request is invalid: since must be before until.');
  }
}
