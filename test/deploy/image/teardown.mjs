import { rm } from 'node:fs/promises';

export default async function tearDown() {
  await globalThis.imageStore.remove();
  await rm(process.env.IMAGE_FILE ?? '', { force: true });
}
