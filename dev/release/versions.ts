import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The folders whose `package.json` and lock file have the version of the release. */
export const VERSIONED_PACKAGES = ['.', 'client'];

/**
 * The other files that repeat the version, because they cannot read `package.json`, with the text before it
 * in its line.
 */
export const VERSIONED_FILES: Record<string, RegExp> = {
  Dockerfile: /(?<=^ARG VERSION=).*$/m,
  'deploy/kubernetes/overlays/production/kustomization.yaml': /(?<=^ +newTag: ).*$/m,
};

/** Returns the version in `package.json`. */
export async function readVersion(root: string): Promise<string> {
  return JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')).version;
}

/** Writes the version into the files that repeat it. @throws Error if one has no place for it. */
export async function writeVersion(root: string, version: string): Promise<void> {
  for (const [name, place] of Object.entries(VERSIONED_FILES)) {
    const file = path.join(root, name);
    const text = await readFile(file, 'utf8');
    if (!place.test(text)) {
      throw new Error(`${name} has no version.`);
    }
    await writeFile(file, text.replace(place, version));
  }
}
