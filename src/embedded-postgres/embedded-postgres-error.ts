/** Why the embedded PostgreSQL cannot be used; the message says what to do and needs no stack beside it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
