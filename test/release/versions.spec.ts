import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VERSIONED_FILES, VERSIONED_PACKAGES } from '../../dev/release/versions.js';
import { VERSION } from '../../src/process/version.js';

const ROOT = path.join(__dirname, '..', '..');
const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const readJson = (...names: string[]) => JSON.parse(read(...names));

describe('the version of this release', () => {
  it.each(VERSIONED_PACKAGES)('is in package.json and the lock file of %s', (folder) => {
    expect(readJson(folder, 'package.json')).toMatchObject({ version: VERSION });
    expect(readJson(folder, 'package-lock.json')).toMatchObject({
      version: VERSION,
      packages: { '': { version: VERSION } },
    });
  });

  it.each(['openapi.json', 'admin-openapi.json'])('is that of %s', (file) => {
    expect(readJson('docs', file).info).toMatchObject({ version: VERSION });
  });

  it.each(Object.entries(VERSIONED_FILES))('is in %s', (file, place) => {
    expect(read(file).match(place)?.[0]).toBe(VERSION);
  });
});
