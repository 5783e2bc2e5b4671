import { type Build, THIS_BUILD } from '../dev/release/build.js';
import type { Faults } from './faults/faults.js';
import { Random } from './random.js';
import type { Stage } from './stage/stage.js';

/** The milliseconds between two replacements: at least, and at most. */
const CALM_MS = [1000, 4000] as const;

interface Surroundings {
  stage: Stage;
  faults: Faults;
  seed: number;
  /** Waits. Returns whether the run goes on. */
  pause: (ms: number) => Promise<boolean>;
  /** Runs once a replica has ended, and before it starts as that version. */
  onReplaced: (replica: string, version: string) => void;
  onFailure: (error: Error) => void;
}

/**
 * The upgrade of all replicas from a former build to this tree, one by one, and back, again and again.
 */
export class Rollout {
  private isOver = false;
  private rolling = Promise.resolve();

  constructor(
    private readonly former: Build,
    private readonly around: Surroundings,
  ) {}

  /** Migrates the database while the former replicas serve, which keep working on it, and begins. */
  async start(): Promise<void> {
    await this.around.stage.migrate();
    this.rolling = this.roll().catch((error: Error) => this.around.onFailure(error));
  }

  /** Returns once no replacement is in progress. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.rolling;
  }

  private async roll(): Promise<void> {
    const { stage, faults, seed, pause, onReplaced } = this.around;
    const random = new Random(seed, 'rollout');
    for (let build = THIS_BUILD; ; build = build === THIS_BUILD ? this.former : THIS_BUILD) {
      const { version } = build;
      for (const replica of stage.replicas) {
        if (!(await pause(random.integer(...CALM_MS))) || this.isOver) {
          return;
        }
        await faults.replace(replica, build, () => onReplaced(replica.name, version));
      }
    }
  }
}
