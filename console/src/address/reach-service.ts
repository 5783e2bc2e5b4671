import { SERVICE_ROOT } from './service-root';

/** The service does not respond, so that nothing can be loaded from it. */
export class UnreachableError extends Error {}

/**
 * Resolves if the service responds. Before the browser leaves the page or loads it again: without a response,
 * it would show an error page of its own instead.
 *
 * @throws UnreachableError.
 */
export async function reachService(): Promise<void> {
  try {
    await fetch(`${SERVICE_ROOT}console`, { method: 'HEAD', cache: 'no-store' });
  } catch (cause) {
    throw new UnreachableError('Failed to load from the service', { cause });
  }
}
