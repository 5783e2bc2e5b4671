/** SQLSTATE classes and codes that say "not now" rather than "not so" (PostgreSQL, Appendix A). */
const UNAVAILABLE_SQLSTATE = /^(08...|53...|57P0.|57014|55P03|25006)$/;
/** Prisma's codes for: unreachable, timed out, refused, connection closed, pool timed out, too many connections. */
const UNAVAILABLE_PRISMA_CODE = /^(P1001|P1002|P1008|P1017|P2024|P2037)$/;
const UNAVAILABLE_SYSTEM_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENOENT)$/;
/** What `pg` says without a code. */
const UNAVAILABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed|not queryable/;

/** Whether an error of Prisma or `pg` means that the database is away or overloaded, so that a later try may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    UNAVAILABLE_SQLSTATE.test(code) ||
    UNAVAILABLE_PRISMA_CODE.test(code) ||
    UNAVAILABLE_SYSTEM_CODE.test(code) ||
    UNAVAILABLE_MESSAGE.test(error.message) ||
    (error.cause !== undefined && isDatabaseUnavailable(error.cause)) ||
    (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable))
  );
}
