// The first step of `npm run documents`: generates the documents from the routes' declarations.

import { writeFile } from 'node:fs/promises';
import { createDocuments, documentText } from '../build/openapi/document.js';
import { documentEvents } from '../build/webhooks/document-events.js';
import { createUnstartedService } from './unstarted-service.js';

const { app, environment } = await createUnstartedService();
const { store, administration } = createDocuments(app, environment, documentEvents());
const folder = new URL('../docs/', import.meta.url);
await writeFile(new URL('openapi.json', folder), documentText(store));
await writeFile(new URL('admin-openapi.json', folder), documentText(administration));
