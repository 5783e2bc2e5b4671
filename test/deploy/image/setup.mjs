import { existsSync } from 'node:fs';
import path from 'node:path';
import { createJiti } from 'jiti';

const PROJECT = path.join(import.meta.dirname, '..', '..', '..');
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

/**
 * Builds the image of the Dockerfile once for all tests, unless `IMAGE_FILE` has one that `build.ts` has
 * built.
 */
export default async function setUp() {
  const { ImageStore } = await createJiti(import.meta.url).import('./image.ts');
  const file = process.env.IMAGE_FILE ?? '';
  const { store, image } = await (existsSync(file) ? ImageStore.restore(file) : ImageStore.create(PROJECT));
  globalThis.imageStore = store;
  process.env.BUILT_IMAGE = JSON.stringify(image);
  const { sizeBytes, baseName, baseSizeBytes, buildSeconds } = image;
  process.stdout.write(
    `The image on a stand-in for ${baseName}: ${megabytes(sizeBytes)} MB, ${megabytes(baseSizeBytes)} ` +
      'MB of them its base; ' +
      `built in ${buildSeconds.toFixed(0)} s.\n`,
  );
}
