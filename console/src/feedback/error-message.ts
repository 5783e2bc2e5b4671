import { AnimalStoreError, ConnectionError } from 'animal-store-client';
import { UnreachableError } from '../address/reach-service';

/** Returns what went wrong, in words for a reader of the page. */
export function errorMessage(error: Error): string {
  if (error instanceof ConnectionError || error instanceof UnreachableError) {
    return 'The service did not respond. Check the connection and try again.';
  }
  if (error instanceof AnimalStoreError) {
    const { message, status, requestId } = error;
    // A response of a proxy has no id.
    const isLogged = status !== null && status >= 500 && requestId !== null;
    return isLogged && !message.includes(requestId) ? `${message} Request id: ${requestId}.` : message;
  }
  return `The console failed: ${error.message}`;
}
