import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const LIBRARIES = '/usr/lib';

/**
 * Debian's faketime as a library, which its program would load into a child process, out of reach of our
 * signals.
 */
export const FAKETIME = (existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])
  .map((folder) => path.join(LIBRARIES, folder, 'faketime', 'libfaketime.so.1'))
  .find((file) => existsSync(file));
