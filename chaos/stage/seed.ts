import path from 'node:path';
import pg from 'pg';
import { type Build, THIS_BUILD } from '../../dev/release/build.js';
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
  build: Build = THIS_BUILD,
): Promise<string> {
  const client = new pg.Client(url('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const environment = { ...settings, DATABASE_URL: url(database) };
  await runCommand(build, environment, 'migrate');
  const output = await runCommand(build, environment, 'seed');
  const [key] = /ask_\w+/.exec(output) ?? [];
  if (key === undefined) {
    throw new Error(`The seed printed no key of an administrator:\n${output}`);
  }
  return key;
}

/** Runs a command of a build. Returns its standard output. @throws Error with all output if it fails. */
export async function runCommand(
  { folder }: Build,
  settings: Record<string, string>,
  command: string,
): Promise<string> {
  const script = path.join(folder, 'dist/cli/admin.js');
  const { code, stdout, stderr } = await run(script, settings, command);
  if (code !== 0) {
    throw new Error(`animal-store ${command} failed:\n${stdout}${stderr}`);
  }
  return stdout;
}
