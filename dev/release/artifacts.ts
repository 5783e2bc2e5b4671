import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createBillOfMaterials } from './bill-of-materials.js';
import { readSection } from './changelog.js';
import { readVersion } from './versions.js';

// `npm run release:artifacts -- FOLDER`: writes what a release has beside its image: the notes, the bill of
// materials and the package of the client, all of this checkout.

const root = process.cwd();
const [, , folder = ''] = process.argv;
if (folder === '') {
  throw new Error('Usage: npm run release:artifacts -- FOLDER');
}
await mkdir(folder, { recursive: true });
const at = (name: string) => path.resolve(folder, name);

const version = await readVersion(root);
const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
await writeFile(at('notes.md'), readSection(changelog, version));

const bill = await createBillOfMaterials(root);
await writeFile(at(`animal-store-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);

const client = { cwd: path.join(root, 'client'), stdio: 'inherit' } as const;
execFileSync('npm', ['ci'], client);
execFileSync('npm', ['pack', `--pack-destination=${at('.')}`], client);
