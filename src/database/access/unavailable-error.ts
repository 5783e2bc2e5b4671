/**
 * The error of a store that is unavailable or overloaded. Its request gets `service_unavailable`, and may be
 * sent again.
 */
export abstract class UnavailableError extends Error {
  /** What is unavailable, for clients: the subject of a sentence. */
  abstract readonly store: string;
}
