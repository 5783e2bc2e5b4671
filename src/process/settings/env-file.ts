import { lstatSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { readFailure, readTextFile } from './text-file.js';

/**
 * Sets the variables of a file such as `.env` that are not set in this process; nothing without the file.
 *
 * @param faults gets a line if there is a file that cannot be read.
 */
export function loadEnvFile(file: string, faults: string[]): void {
  try {
    // A link to a missing file must not pass for no file: the service would start with other settings.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
      return;
    }
    for (const [name, value] of Object.entries(parseEnv(readTextFile(file)))) {
      // Node keeps a second space after `export`.
      process.env[name.trim()] ??= value;
    }
  } catch (error) {
    faults.push(`${path.basename(file)} cannot be read: ${readFailure(error)}`);
  }
}
