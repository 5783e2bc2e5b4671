import { generateApiKey } from '../../src/auth/rules/api-key.js';
import type { Random } from '../random.js';
import type { ClientKey } from './messages.js';

/** How long clients keep using a key that has ended, like clients that have not noticed it. */
const UNAWARE_MS = 4000;
/** Anonymous clients have a limit of their own, so most requests beyond it would only meet that. */
const ENDED_SHARE = 0.004;
const UNKNOWN_SHARE = 0.001;
const WITHOUT_SHARE = 0.001;

type UsedKey = Pick<ClientKey, 'name' | 'secret'> & { quota: string | null };

/** The keys of a client: those that it considers valid, and those that have ended or are suspended. */
export class KeyRing {
  private readonly live = new Map<string, ClientKey>();
  private ended: ClientKey[] = [];
  private readonly unknown = { name: 'unknown', quota: null, secret: generateApiKey('staging') };

  constructor(private readonly random: Random) {}

  get isEmpty(): boolean {
    return this.live.size === 0;
  }

  /** Adds a key that was issued, or that is valid again. */
  add(key: ClientKey): void {
    this.live.set(key.name, key);
    this.ended = this.ended.filter(({ name }) => name !== key.name);
  }

  end(name: string): void {
    const key = this.live.get(name);
    setTimeout(() => {
      // Unless it is valid again.
      if (key !== undefined && this.live.get(name) === key) {
        this.live.delete(name);
        this.ended.push(key);
      }
    }, UNAWARE_MS);
  }

  /** Picks any key, in whichever state; null for a request without one. */
  pick(): UsedKey | null {
    if (this.random.chance(WITHOUT_SHARE)) {
      return null;
    }
    if (this.random.chance(UNKNOWN_SHARE)) {
      return this.unknown;
    }
    if (this.ended.length > 0 && this.random.chance(ENDED_SHARE)) {
      return this.random.pick(this.ended);
    }
    return this.random.pickWeighted([...this.live.values()]);
  }

  /** Picks a key of a quota with narrow limits; null if there is none. */
  pickNarrow(): ClientKey | null {
    const narrow = [...this.live.values()].filter(({ weight }) => weight <= 1);
    return narrow.length === 0 ? null : this.random.pick(narrow);
  }

  /** Returns the key with the greatest weight, which is the same for all clients and never ends. */
  get shared(): ClientKey {
    return [...this.live.values()].reduce((one, other) => (other.weight > one.weight ? other : one));
  }
}
