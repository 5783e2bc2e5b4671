/** Thrown if the embedded PostgreSQL cannot be used. The message says what to do, so it is reported without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
