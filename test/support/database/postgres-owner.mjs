// A process that owns the embedded PostgreSQL of a data folder until it is killed. Sends its URL, or the error message.
import { startEmbeddedPostgres } from '../../../dist/embedded-postgres/embedded-postgres.js';

startEmbeddedPostgres(process.argv[2] ?? '').then(
  (postgres) => process.send(postgres.url),
  (error) => process.send(error.message, () => process.exit(1)),
);
