/** Options of every call. */
export interface CallOptions {
  /** Ends the call, even while it waits. The call then rejects with the signal's reason. */
  signal?: AbortSignal | null | undefined;
  /**
   * Milliseconds for all attempts of the call and the waits before and between them, in place of the budget's
   * `timeoutMs`.
   */
  timeoutMs?: number | undefined;
}

/** Options of a call that sends an `Idempotency-Key`, because it creates something. */
export interface IdempotentCallOptions extends CallOptions {
  /**
   * Names this creation, so that it happens once. New for each call by default. Give your own if a call must
   * be repeated after your process has ended, within 24 hours and with the same body.
   */
  idempotencyKey?: string | undefined;
}

export function idempotencyHeader({ idempotencyKey = crypto.randomUUID() }: IdempotentCallOptions): {
  'Idempotency-Key': string;
} {
  return { 'Idempotency-Key': idempotencyKey };
}
