import { setTimeout as pause } from 'node:timers/promises';
import { Ledger } from '../ledger.js';
import type { Change } from '../verifier/evidence.js';
import { Random } from '../random.js';
import { exchange } from './exchange.js';
import { receive, report, type Setup } from './messages.js';
import { FIRST_QUOTAS, type NewQuota, OTHER_LIMITS, OTHER_QUOTAS } from './quotas.js';

/** An issued key that has not ended, as far as the administrator knows. */
interface LiveKey {
  id: string;
  name: string;
  quota: string;
  perMinute: number;
  perDay: number;
  weight: number;
}

/** The parts of a response with a key that the administrator uses. */
interface KeyBody {
  id: string;
  key: string;
}

const PAUSE_MS = 150;
/** A failed change is repeated as often, because an unknown outcome makes the verifier's checks weaker. */
const ATTEMPTS = 20;
const RETRY_MS = 500;
/** At least as many keys stay live. */
const FEWEST_KEYS = FIRST_QUOTAS.length;

/** A process that issues keys for the clients, and then changes keys, plans and bans until it is stopped. */
class Administrator {
  private readonly ledger = new Ledger<Change>('administrator');
  private readonly random: Random;
  /** The keys that may be changed; those of the first quota never are. */
  private readonly keys: LiveKey[] = [];
  private issued = 0;
  private quotas = 0;
  private isOver = false;

  private readonly changes = [
    { weight: 3, change: () => this.issue(this.random.pick(OTHER_QUOTAS)) },
    { weight: 2, change: () => this.issue(this.random.pick(OTHER_QUOTAS), this.random.integer(3, 20)) },
    { weight: 3, change: () => this.revoke(this.random.pick(this.keys)) },
    { weight: 4, change: () => this.rotate(this.random.pick(this.keys)) },
    { weight: 5, change: () => this.changePlan(this.random.pick(this.keys)) },
    { weight: 8, change: () => this.liftBan(this.random.pick(this.keys)) },
  ];

  constructor(private readonly setup: Setup) {
    this.random = new Random(setup.seed, setup.name);
  }

  async run(): Promise<void> {
    for (const quota of FIRST_QUOTAS) {
      await this.issue(quota);
    }
    this.keys.shift();
    await report({ type: 'ready' });
    while (!this.isOver) {
      await pause(PAUSE_MS);
      await (this.keys.length < FEWEST_KEYS
        ? this.issue(this.random.pick(OTHER_QUOTAS))
        : this.random.pickWeighted(this.changes).change());
    }
    await this.ledger.close();
  }

  stop(): void {
    this.isOver = true;
  }

  /** @param lifeSeconds when the key expires; never if it is left out. */
  private async issue({ weight, ...limits }: NewQuota, lifeSeconds?: number): Promise<void> {
    this.issued += 1;
    this.quotas += 1;
    const key = { name: `k${this.issued}`, quota: `q${this.quotas}`, weight, ...limits };
    const endsAt = lifeSeconds === undefined ? null : isoIn(lifeSeconds);
    const body = {
      name: key.name,
      plan: 'enterprise',
      ...limits,
      ...(endsAt !== null && { expiresAt: endsAt }),
    };
    const issued = await this.send('POST', '/admin/keys', body, key, () => ({ change: 'issue', endsAt }));
    if (issued !== null) {
      this.publish({ id: issued.id, ...key }, issued.key, lifeSeconds);
    }
  }

  private async revoke(key: LiveKey): Promise<void> {
    this.forget(key);
    await report({ type: 'ended', key: key.name });
    await this.send('POST', `/admin/keys/${key.id}/revoke`, null, key, () => ({ change: 'revoke' }));
  }

  private async rotate(key: LiveKey): Promise<void> {
    this.forget(key);
    this.issued += 1;
    const successor = `k${this.issued}`;
    const overlapSeconds = this.random.integer(0, 6);
    const path = `/admin/keys/${key.id}/rotate`;
    const rotated = await this.send('POST', path, { overlapSeconds }, key, () => ({
      change: 'rotate',
      // The overlap begins before the response arrives.
      endsAt: isoIn(overlapSeconds),
    }));
    setTimeout(() => void report({ type: 'ended', key: key.name }), overlapSeconds * 1000);
    if (rotated !== null) {
      this.publish({ ...key, id: rotated.id, name: successor }, rotated.key);
    }
  }

  private async changePlan(key: LiveKey): Promise<void> {
    const limits = this.random.pick(OTHER_LIMITS);
    const sameQuota = this.keys.filter(({ quota }) => quota === key.quota);
    const body = { plan: 'enterprise', ...limits };
    const describe = () => ({ change: 'plan', ...limits }) as const;
    if ((await this.send('PATCH', `/admin/keys/${key.id}`, body, key, describe)) !== null) {
      sameQuota.forEach((each) => Object.assign(each, limits));
    }
  }

  private async liftBan(key: LiveKey): Promise<void> {
    await this.send('POST', `/admin/keys/${key.id}/unban`, null, key, () => ({ change: 'liftBan' }));
  }

  /** Gives a key to the clients, and to this process if it does not end by itself. */
  private publish(key: LiveKey, secret: string, lifeSeconds?: number): void {
    const { name, quota, weight } = key;
    void report({ type: 'key', key: { name, quota, secret, weight } });
    if (lifeSeconds === undefined) {
      this.keys.push(key);
    } else {
      setTimeout(() => void report({ type: 'ended', key: name }), lifeSeconds * 1000);
    }
  }

  private forget(key: LiveKey): void {
    this.keys.splice(this.keys.indexOf(key), 1);
  }

  /**
   * Sends a change of a key to any replica until one carries it out or rejects it. Returns the body of
   * success, else null.
   */
  private async send(
    method: string,
    path: string,
    body: object | null,
    { name, quota, perMinute, perDay }: Omit<LiveKey, 'id'>,
    describe: () => Pick<Change, 'change'> & Partial<Change>,
  ): Promise<KeyBody | null> {
    const { adminKey = '', replicas } = this.setup;
    const request = {
      method,
      path,
      key: { name: 'administrator', quota: null, secret: adminKey },
      body: body === null ? null : JSON.stringify(body),
      record: null,
      idempotencyKey: null,
      abandonAfterMs: null,
    };
    const key = { key: name, quota, perMinute, perDay, endsAt: null };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const outcome = await exchange(this.random.pick(replicas), request);
      if (outcome !== null) {
        const { sentMs, receivedMs, status } = outcome;
        this.ledger.write({ kind: 'change', sentMs, receivedMs, status, ...key, ...describe() });
        if (receivedMs !== null && status !== null && status < 300) {
          return JSON.parse(outcome.body ?? '');
        }
        if (receivedMs !== null && status !== null && status < 500 && status !== 429) {
          return null;
        }
      }
      await pause(RETRY_MS);
    }
    return null;
  }
}

const isoIn = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

let administrator: Administrator;

receive((message) => {
  if (message.type === 'setup') {
    administrator = new Administrator(message.setup);
    void administrator.run().then(() => process.exit());
  }
  if (message.type === 'stop') {
    administrator.stop();
  }
});
