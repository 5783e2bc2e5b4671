import { existsSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { command } from './command.js';

const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'animal-store');

/** The image that the Dockerfile builds upon. */
interface BaseImage {
  /** The Dockerfile names it so, with its digest. */
  reference: string;
  /** The same without its digest, which no stand-in can have. */
  name: string;
  nodeVersion: string;
  /** The release of Debian. */
  suite: string;
}

/** The one image that all stages of the Dockerfile build upon. */
export async function readBaseImage(dockerfile: string): Promise<BaseImage> {
  const froms = [...(await readFile(dockerfile, 'utf8')).matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
  const stages = new Set(froms.map(([, , stage]) => stage));
  const [reference = '', ...others] = new Set(froms.flatMap(([, from]) => (stages.has(from) ? [] : [from])));
  const [, name = '', nodeVersion = '', suite = ''] =
    /^(node:(\d+\.\d+\.\d+)-([a-z]+)-slim)@sha256:[0-9a-f]{64}$/.exec(reference) ?? [];
  if (name === '' || others.length > 0) {
    throw new Error(
      'The Dockerfile does not build upon one slim image of one version of Node on one release of Debian, ' +
        'by its digest',
    );
  }
  return { reference, name, nodeVersion, suite };
}

/**
 * An archive of what stands in for the official image if no registry of images is in reach: the same release
 * of Debian, slimmed as that is, and the same Node, of npm's package `node`, with the npm of this machine. It
 * is kept for the next time.
 */
export async function baseImageArchive({ nodeVersion, suite }: BaseImage): Promise<string> {
  const archive = path.join(CACHE, `node-${nodeVersion}-${suite}-${process.arch}.tar`);
  if (!existsSync(archive)) {
    await mkdir(CACHE, { recursive: true });
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-base-'));
    try {
      const root = path.join(folder, 'root');
      await Promise.all([installDebian(root, suite), unpackNode(folder, nodeVersion)]);
      await installNode(root, path.join(folder, 'package'));
      const unfinished = path.join(folder, 'base.tar');
      await command('tar', '--create', '--file', unfinished, '--directory', root, '.');
      await cp(unfinished, `${archive}.part`);
      await rename(`${archive}.part`, archive);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return archive;
}

/** What the official image consists of, without documentation and package lists. */
async function installDebian(root: string, suite: string): Promise<void> {
  await command('debootstrap', '--variant=minbase', '--include=ca-certificates,libatomic1', suite, root);
  for (const folder of ['usr/share/doc', 'usr/share/man', 'usr/share/info', 'usr/share/locale']) {
    await rm(path.join(root, folder), { recursive: true, force: true });
  }
  for (const folder of ['var/cache/apt', 'var/lib/apt/lists', 'var/log']) {
    await rm(path.join(root, folder), { recursive: true });
    await mkdir(path.join(root, folder));
  }
  await command('chroot', root, 'groupadd', '--gid', '1000', 'node');
  await command('chroot', root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node');
}

async function unpackNode(folder: string, version: string): Promise<void> {
  const name = `node-linux-${process.arch}`;
  await command('npm', 'pack', '--silent', `${name}@${version}`, '--pack-destination', folder);
  await command('tar', '--extract', `--directory=${folder}`, `--file=${folder}/${name}-${version}.tgz`);
}

/** @param unpacked the package `node`, whose folders are those of Node's own archive. */
async function installNode(root: string, unpacked: string): Promise<void> {
  const local = path.join(root, 'usr/local');
  for (const folder of ['bin', 'include', 'share']) {
    await cp(path.join(unpacked, folder), path.join(local, folder), { recursive: true });
  }
  const headers = path.join(local, 'include/node/openssl/archs');
  for (const architecture of await readdir(headers)) {
    if (architecture !== (process.arch === 'arm64' ? 'linux-aarch64' : 'linux-x86_64')) {
      await rm(path.join(headers, architecture), { recursive: true });
    }
  }
  // The global folder of another Node, if that comes first in PATH, has no npm.
  const npm = path.resolve(await command('npm', 'exec', '--call', 'echo $npm_execpath'), '../..');
  await cp(npm, path.join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true });
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(local, 'bin', name));
  }
  // The official image begins its commands with a script, too.
  const entrypoint = path.join(local, 'bin/docker-entrypoint.sh');
  await writeFile(entrypoint, '#!/bin/sh\nset -e\nexec "$@"\n');
  await chmod(entrypoint, 0o755);
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  if (certificates !== undefined) {
    // Whom this machine trusts npm has to trust there, too.
    await cp(certificates, path.join(root, 'usr/local/share/certificates.crt'), { dereference: true });
    await mkdir(path.join(local, 'etc'), { recursive: true });
    await writeFile(path.join(local, 'etc/npmrc'), 'cafile=/usr/local/share/certificates.crt\n');
  }
}
