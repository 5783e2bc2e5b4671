/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also while it waits. The call then rejects with the signal's reason. */
  signal?: AbortSignal | null | undefined;
  /** Milliseconds for all attempts of the call and the waits before and between them, in place of the budget's `totalMs`. */
  timeoutMs?: number | undefined;
}
