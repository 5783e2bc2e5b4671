import path from 'node:path';
import { createJiti } from 'jiti';

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

/** Builds the image of the Dockerfile once for all tests. */
export default async function setUp() {
  const { ImageStore } = await createJiti(import.meta.url).import('../image/support/image.ts');
  const store = await ImageStore.open();
  const image = await store.build(path.join(import.meta.dirname, '..', '..')).catch(async (error) => {
    await store.remove();
    throw error;
  });
  globalThis.imageStore = store;
  process.env.BUILT_IMAGE = JSON.stringify(image);
  const { sizeBytes, baseName, baseSizeBytes, buildSeconds } = image;
  process.stdout.write(
    `The image on a stand-in for ${baseName}: ${megabytes(sizeBytes)} MB, ${megabytes(baseSizeBytes)} MB of them its base; ` +
      `built in ${buildSeconds.toFixed(0)} s.\n`,
  );
}
