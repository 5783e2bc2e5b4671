import { AnimalStoreError, ConnectionError } from 'animal-store-client';

/** Returns what went wrong, in words for a reader of the page. */
export function errorMessage(error: Error): string {
  if (error instanceof ConnectionError) {
    return 'The service did not respond. Check the connection and try again.';
  }
  if (error instanceof AnimalStoreError) {
    const reference = error.status !== null && error.status >= 500 ? ` Request id: ${error.requestId}.` : '';
    return `${error.message}${reference}`;
  }
  return `The console failed: ${error.message}`;
}
