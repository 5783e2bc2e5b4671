import pg from 'pg';
import { run } from '../../test/support/service/service-process.js';

/**
 * Creates a database, its tables, its plans and the first administrator.
 *
 * @param url returns the address of a database.
 * @returns the administrator's key.
 */
export async function seedDatabase(
  url: (database: string) => string,
  database: string,
  settings: Record<string, string>,
): Promise<string> {
  const client = new pg.Client(url('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const environment = { ...settings, DATABASE_URL: url(database) };
  await runCommand(environment, 'migrate');
  const output = await runCommand(environment, 'seed');
  const [key] = /ask_\w+/.exec(output) ?? [];
  if (key === undefined) {
    throw new Error(`The seed printed no key of an administrator:\n${output}`);
  }
  return key;
}

async function runCommand(settings: Record<string, string>, command: string): Promise<string> {
  const { code, stdout, stderr } = await run('cli/admin.js', settings, command);
  if (code !== 0) {
    throw new Error(`animal-store ${command} failed:\n${stdout}${stderr}`);
  }
  return stdout;
}
