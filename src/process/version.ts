import { readFileSync } from 'node:fs';

/** The version of this release, from `package.json`: the only place that states it by hand. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
