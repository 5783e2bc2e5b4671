/**
 * The error of a store that is unavailable or overloaded. Its request gets `service_unavailable`, and may be
 * sent again.
 */
export class UnavailableError extends Error {
  /**
   * @param store what is unavailable, for clients: the subject of a sentence.
   * @param reason by which callers tell failures apart.
   */
  constructor(
    readonly store: string,
    readonly reason: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
