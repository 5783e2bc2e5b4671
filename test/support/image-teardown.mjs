export default async function tearDown() {
  await globalThis.imageStore.remove();
}
