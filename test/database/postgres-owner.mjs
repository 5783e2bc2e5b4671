// A process that owns the embedded PostgreSQL of a data folder until it is killed or disconnected. Sends its
// URL, or the error message.
import { startEmbeddedPostgres } from '../../dist/database/migrations/embedded/embedded-postgres.js';

startEmbeddedPostgres(process.argv[2] ?? '').then(
  ({ url, stop }) => {
    process.once('disconnect', () => void stop());
    process.send(url);
  },
  (error) => process.send(error.message, () => process.exit(1)),
);
