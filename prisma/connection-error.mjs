// Describes errors of the connection to the database server with the codes and texts of Prisma's schema
// engine.

const REACH_ERRORS = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
]);
const TLS_ERROR =
  /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECRYPT)|HOSTNAME_MISMATCH|INVALID_CA)/;

/**
 * Returns Prisma's code (P1000 and so on) and text for an error of `pg`.
 * There is no code if the error is not about the connection.
 */
export function describeConnectionError(error, connectionString) {
  const { user, server, database } = parts(connectionString);
  const checkServer = `Please make sure your database server is running at \`${server}\`.`;
  const { code, message } = error;

  if (REACH_ERRORS.has(code)) {
    return { code: 'P1001', message: `Can't reach database server at \`${server}\`\n\n${checkServer}` };
  }
  if (code === 'ETIMEDOUT' || /timeout/i.test(message)) {
    return {
      code: 'P1002',
      message:
        `The database server at \`${server}\` was reached but timed out.\n\nPlease try ` +
        `again.\n\n${checkServer}`,
    };
  }
  if (code === '28P01' || /password must be a string/.test(message)) {
    return {
      code: 'P1000',
      message:
        'Authentication failed against database server, the provided database credentials for ' +
        `\`${user}\` are not valid.` +
        `\n\nPlease make sure to provide valid database credentials for the database server at ` +
        `\`${server}\`.`,
    };
  }
  if (code === '3D000') {
    return { code: 'P1003', message: `Database \`${database}\` does not exist` };
  }
  if (code === '28000' || code === '42501') {
    return {
      code: 'P1010',
      message: `User \`${user}\` was denied access on the database \`${database}\`: ${message}`,
    };
  }
  if (TLS_ERROR.test(code ?? '') || /SSL/.test(message)) {
    return { code: 'P1011', message: `Error opening a TLS connection: ${message}` };
  }
  return { message: message || String(error) };
}

function parts(connectionString) {
  const url = new URL(connectionString);
  return {
    user: decodeURIComponent(url.username),
    server: `${url.searchParams.get('host') || url.hostname || 'localhost'}:${url.port || 5432}`,
    database: decodeURIComponent(url.pathname.slice(1)),
  };
}
