import path from 'node:path';
import { ImageStore } from './image.js';

// Builds the image before its tests run in another process: `jiti test/deploy/image/build.ts FILE`, and then
// `IMAGE_FILE=FILE`.
const { store, image } = await ImageStore.create(path.join(import.meta.dirname, '..', '..', '..'));
await store.save(image, process.argv[2] ?? '');
