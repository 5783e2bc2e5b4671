import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { baseImageArchive, readBaseImage } from './base-image.js';
import { command } from './command.js';

const IMAGE = 'animal-store';
/** The commit that a build labels an image with, instead of this checkout's. */
export const REVISION = '0123456789abcdef0123456789abcdef01234567';

/** What we read of the configuration of the image, which has Docker's names. */
interface ImageConfig {
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  Healthcheck: { Test: string[] };
  Labels: Record<string, string>;
}

/** An image that was built, with its files in reach. */
export interface Image {
  /** Its files are here on this machine. */
  root: string;
  config: ImageConfig;
  /** The image that the Dockerfile builds upon. */
  baseName: string;
  /** All layers, unpacked: the size that the Docker engine reports. */
  sizeBytes: number;
  /** The base image brings this part of them. */
  baseSizeBytes: number;
  buildSeconds: number;
}

/** Returns the image that was built for all tests. */
export const builtImage = (): Image => JSON.parse(process.env['BUILT_IMAGE'] ?? '') as Image;

/**
 * Builds images as Debian's buildah does without a Docker engine, in a store of its own, which is removed
 * afterwards.
 */
export class ImageStore {
  private constructor(
    private readonly folder: string,
    private readonly driver: 'overlay' | 'vfs',
  ) {}

  /** Builds the image of a project's Dockerfile in a new store. */
  static async create(project: string): Promise<{ store: ImageStore; image: Image }> {
    const store = await ImageStore.open();
    try {
      return { store, image: await store.build(project) };
    } catch (error) {
      await store.remove();
      throw error;
    }
  }

  /** Returns the store, and the image, that `save` wrote to a file. */
  static async restore(file: string): Promise<{ store: ImageStore; image: Image }> {
    const { folder, driver, image } = JSON.parse(await readFile(file, 'utf8'));
    return { store: new ImageStore(folder, driver), image };
  }

  private static async open(): Promise<ImageStore> {
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-image-'));
    const store = new ImageStore(folder, 'overlay');
    // Much the quicker one, which not every file system can.
    const canOverlay = await store.buildah('images').then(
      () => true,
      () => false,
    );
    return canOverlay ? store : new ImageStore(folder, 'vfs');
  }

  private async build(project: string): Promise<Image> {
    const base = await readBaseImage(path.join(project, 'Dockerfile'));
    const archive = await baseImageArchive(base);
    const empty = await this.buildah('from', 'scratch');
    await this.buildah('add', '--quiet', empty, archive, '/');
    const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    const environment = [`--env=NODE_VERSION=${base.nodeVersion}`, `--env=PATH=${PATH}`];
    const program = ['--entrypoint=["docker-entrypoint.sh"]', '--cmd=node'];
    await this.buildah('config', ...environment, ...program, empty);
    await this.buildah('commit', '--quiet', '--rm', empty, `docker.io/library/${base.name}`);
    const startedAt = performance.now();
    // By default, buildah allows 1,024 open files, of which npm needs more on a busy machine.
    const build = ['bud', '--pull-never', '--network=host', '--ulimit=nofile=16384:16384', '--format=docker'];
    // The containers of the stages go with the store: buildah itself would remove them one by one.
    const standIn = `--build-context=${base.reference}=docker-image://docker.io/library/${base.name}`;
    const revision = `--build-arg=REVISION=${REVISION}`;
    await this.buildah(...build, standIn, revision, '--no-cache', '--rm=false', `--tag=${IMAGE}`, project);
    const buildSeconds = (performance.now() - startedAt) / 1000;
    const container = await this.buildah('from', '--pull-never', IMAGE);
    const root = await this.buildah('mount', container);
    const { Docker } = JSON.parse(await this.buildah('inspect', '--type=image', IMAGE));
    return {
      root,
      config: Docker.config,
      baseName: base.name,
      ...(await this.sizes()),
      buildSeconds,
    };
  }

  /** Writes to a file what another process needs to use an image of this store. */
  async save(image: Image, file: string): Promise<void> {
    const { folder, driver } = this;
    await writeFile(file, JSON.stringify({ folder, driver, image }));
  }

  async remove(): Promise<void> {
    await this.buildah('umount', '--all');
    await rm(this.folder, { recursive: true });
  }

  /** Of the layers, as they are in an archive that compresses nothing; the base image is the first. */
  private async sizes(): Promise<Pick<Image, 'sizeBytes' | 'baseSizeBytes'>> {
    const exported = path.join(this.folder, 'exported');
    await this.buildah('push', '--quiet', '--disable-compression', IMAGE, `dir:${exported}`);
    const { layers } = JSON.parse(await readFile(path.join(exported, 'manifest.json'), 'utf8'));
    await rm(exported, { recursive: true });
    const sizes = (layers as { size: number }[]).map(({ size }) => size);
    return { sizeBytes: sizes.reduce((sum, size) => sum + size), baseSizeBytes: sizes[0] ?? 0 };
  }

  private buildah(...args: string[]): Promise<string> {
    const { folder, driver } = this;
    const environment = ['BUILDAH_ISOLATION=chroot', `TMPDIR=${folder}`];
    const place = [`--storage-driver=${driver}`, `--root=${folder}/${driver}`, `--runroot=${folder}/run`];
    return command('env', ...environment, 'buildah', ...place, ...args);
  }
}
