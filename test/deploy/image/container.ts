import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type Ended, KeptOutput } from '../../support/programs/kept-output.js';
import type { Image } from './image.js';

const NODE_USER = '1000';

/** The options of a container. */
interface ContainerOptions {
  /** Default: the command of the image. */
  command?: string[] | undefined;
  env?: Record<string, string>;
  /** Files of this machine, by the names of their secrets. */
  secrets?: Record<string, string>;
}

/**
 * Runs a command of the image as `docker run --read-only --cap-drop ALL --network host` does: with its own
 * files and processes, as process 1. (`buildah run` can neither make the files read-only nor pass signals
 * on.)
 */
export class Container extends KeptOutput {
  constructor(image: Image, { command, env = {}, secrets = {} }: ContainerOptions = {}) {
    const { root, config } = image;
    const mounts = Object.entries(secrets).flatMap(([name, file]) => [
      '--ro-bind',
      file,
      `/run/secrets/${name}`,
    ]);
    const variables = [...config.Env, ...Object.entries(env).map((entry) => entry.join('='))];
    super(
      spawn(
        'bwrap',
        [
          ...'--unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent'.split(' '),
          ...`--ro-bind ${root} / --proc /proc --dev /dev --chdir ${config.WorkingDir}`.split(' '),
          ...'--tmpfs /run --perms 0755 --dir /run/secrets'.split(' '),
          ...mounts,
          '--clearenv',
          ...variables.flatMap((variable) => ['--setenv', ...variable.split(/=(.*)/s, 2)]),
          '--',
          // The program replaces this one, as process 1.
          ...`setpriv --reuid=${NODE_USER} --regid=${NODE_USER} --clear-groups`.split(' '),
          ...'--bounding-set=-all --inh-caps=-all --no-new-privs --'.split(' '),
          ...config.Entrypoint,
          ...(command ?? config.Cmd),
        ],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      ),
    );
  }

  /** Sends a signal to process 1 if it still runs, and waits for its end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    if (this.child.exitCode === null) {
      process.kill(await this.firstProcess(), signal);
    }
    return this.ended;
  }

  /** Returns the environment of process 1. */
  async environment(): Promise<string> {
    return readFile(`/proc/${await this.firstProcess()}/environ`, 'utf8');
  }

  /** Returns the id of process 1 on this machine. @throws Error if it has not started. */
  private async firstProcess(): Promise<number> {
    const { pid } = this;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    if (children === '') {
      throw new Error('Process 1 has not started');
    }
    return Number(children);
  }
}
