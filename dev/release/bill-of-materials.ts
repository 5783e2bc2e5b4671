import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** What the Dockerfile installs packages from. */
const FILES = ['package.json', 'package-lock.json', '.npmrc', 'console/package.json'];
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What we use of a bill of materials in the format CycloneDX. */
interface BillOfMaterials {
  components: { name: string; version: string }[];
}

/**
 * Returns the npm packages that the image and the console contain. Installs them as the Dockerfile does,
 * because `npm sbom --omit=dev` also omits a package of production that another one has for development.
 */
export async function createBillOfMaterials(root: string): Promise<BillOfMaterials> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'bill-of-materials-'));
  // By whose name npm names the whole.
  const folder = path.join(temporary, 'animal-store');
  const npm = async (...args: string[]) =>
    (await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  try {
    for (const file of FILES) {
      await cp(path.join(root, file), path.join(folder, file));
    }
    await npm('ci', '--omit=dev', '--omit=optional', '--omit=peer', '--ignore-scripts');
    // Otherwise they are reported as missing.
    await npm('pkg', 'delete', 'devDependencies', '--workspaces', '--include-workspace-root');
    return JSON.parse(await npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application'));
  } finally {
    await rm(temporary, { recursive: true });
  }
}
