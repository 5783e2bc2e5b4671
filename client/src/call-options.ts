/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also while it waits. The call then rejects with the signal's reason. */
  signal?: AbortSignal | null | undefined;
}
