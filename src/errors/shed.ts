import { ApiError } from './api-error.js';

const RETRY_SECONDS = 1;

/** A request that is answered without being judged: nobody looks up its key, and nothing counts it. */
export class Shed extends ApiError {
  constructor(message: string) {
    super('service_unavailable', message, { headers: { 'Retry-After': String(RETRY_SECONDS) } });
  }
}
