import { setTimeout as pause } from 'node:timers/promises';
import { THIS_BUILD } from '../../dev/release/build.js';
import { Ledger } from '../ledger.js';
import type { Change, Request } from '../verifier/evidence.js';
import { Random } from '../random.js';
import { exchange, type PlannedRequest, requestLine } from './exchange.js';
import { receive, report, type ReplicaAddress, type Setup } from './messages.js';
import { FIRST_QUOTAS, type NewQuota, OTHER_LIMITS, OTHER_QUOTAS } from './quotas.js';

/** An issued key that has not ended, as far as the administrator knows. */
interface LiveKey {
  id: string;
  quotaId: string;
  name: string;
  /** The name of its quota in the ledger. */
  quota: string;
  perMinute: number;
  perDay: number;
  weight: number;
  secret: string;
  /** What it may do unless it is restricted; null for the scopes of keys that are issued without scopes. */
  scopes: string[] | null;
  /** Whether a holder issued it. */
  isOfHolder: boolean;
}

/** The parts of a response with a key that the administrator uses. */
interface KeyBody {
  id: string;
  key: string;
  /** A holder's response lacks it. */
  quotaId?: string;
}

const PAUSE_MS = 150;
/** A failed change is repeated as often, because an unknown outcome makes the verifier's checks weaker. */
const ATTEMPTS = 20;
const RETRY_MS = 500;
/** At least this many keys stay live. */
const FEWEST_KEYS = FIRST_QUOTAS.length;
/** The scopes of a key whose holder issues further keys. */
const HOLDER_SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'keys:write'];
const HOLDER_SHARE = 0.4;
const READ_ONLY = ['pets:read', 'orders:read'];

/**
 * A process that issues keys for the clients, and then changes keys, plans and bans until it is stopped,
 * partly as a holder.
 */
class Administrator {
  private readonly ledger = new Ledger<Change | Request>('administrator');
  private readonly random: Random;
  /** The keys that may be changed; those of the first quota never are. */
  private readonly keys: LiveKey[] = [];
  private readonly suspended: LiveKey[] = [];
  private issued = 0;
  private sent = 0;
  private quotas = 0;
  private isOver = false;

  private readonly changes = [
    { weight: 3, change: () => this.issue(this.random.pick(OTHER_QUOTAS)) },
    { weight: 2, change: () => this.issue(this.random.pick(OTHER_QUOTAS), this.random.integer(3, 20)) },
    { weight: 1, change: () => this.addKey(this.random.pick(this.keys)) },
    { weight: 6, change: () => this.issueAsHolder() },
    { weight: 4, change: () => this.revoke(this.random.pick(this.keys)) },
    { weight: 6, change: () => this.revokeAsHolder() },
    { weight: 3, change: () => this.suspend(this.random.pick(this.keys)) },
    { weight: 4, change: () => this.resume() },
    { weight: 4, change: () => this.restrict(this.random.pick(this.keys)) },
    { weight: 4, change: () => this.rotate(this.random.pick(this.keys)) },
    { weight: 5, change: () => this.changePlan(this.random.pick(this.keys)) },
    { weight: 8, change: () => this.liftBan(this.random.pick(this.keys)) },
  ];

  private replicas: ReplicaAddress[];

  constructor(private readonly setup: Setup) {
    this.random = new Random(setup.seed, setup.name);
    this.replicas = setup.replicas;
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

  /** Has the next requests to a replica meet another version. */
  replace(name: string, version: string): void {
    this.replicas = this.replicas.map((each) => (each.name === name ? { ...each, version } : each));
  }

  /** @param lifeSeconds when the key expires; never if it is left out. */
  private async issue({ weight, ...limits }: NewQuota, lifeSeconds?: number): Promise<void> {
    this.quotas += 1;
    const scopes = this.random.chance(HOLDER_SHARE) ? HOLDER_SCOPES : null;
    const key = {
      name: this.nextName(),
      quota: `q${this.quotas}`,
      weight,
      ...limits,
      scopes,
      isOfHolder: false,
    };
    const endsAt = lifeSeconds === undefined ? null : isoIn(lifeSeconds);
    const body = {
      name: key.name,
      plan: 'enterprise',
      ...limits,
      ...(scopes !== null && { scopes }),
      ...(endsAt !== null && { expiresAt: endsAt }),
    };
    const issued = await this.send('POST', '/admin/keys', body, key, () => ({ change: 'issue', endsAt }));
    this.publish(key, issued, lifeSeconds);
  }

  /** Issues a further key on the quota of a key. */
  private async addKey(sibling: LiveKey): Promise<void> {
    const key = { ...sibling, name: this.nextName(), scopes: null, isOfHolder: false };
    const body = { name: key.name, quotaId: sibling.quotaId };
    this.publish(key, await this.send('POST', '/admin/keys', body, key, () => ({ change: 'addKey' })));
  }

  private async issueAsHolder(): Promise<void> {
    const holder = this.pickHolder();
    if (holder !== undefined) {
      const key = {
        ...holder,
        name: this.nextName(),
        scopes: holder.scopes?.filter((scope) => scope !== 'keys:write') ?? null,
        isOfHolder: true,
      };
      const issued = await this.send(
        'POST',
        '/v1/keys',
        { name: key.name },
        key,
        () => ({ change: 'addKey' }),
        holder,
      );
      this.publish(key, issued);
    }
  }

  private async revoke(key: LiveKey, holder: LiveKey | null = null): Promise<void> {
    this.forget(key);
    await report({ type: 'ended', key: key.name });
    const path = `${holder === null ? '/admin' : '/v1'}/keys/${key.id}/revoke`;
    await this.send('POST', path, null, key, () => ({ change: 'revoke' }), holder);
  }

  private async revokeAsHolder(): Promise<void> {
    const key = this.keys.find(({ isOfHolder }) => isOfHolder);
    const holder = key && this.pickHolder(key.quota);
    if (key !== undefined && holder !== undefined) {
      await this.revoke(key, holder);
    }
  }

  private async suspend(key: LiveKey): Promise<void> {
    if (this.knowSuspensions().length > 0) {
      this.forget(key);
      this.suspended.push(key);
      await report({ type: 'ended', key: key.name });
      await this.setSuspended(key, true);
    }
  }

  /** Resumes the key that has been suspended for longest. */
  private async resume(): Promise<void> {
    const [key] = this.suspended;
    if (key !== undefined && (await this.setSuspended(key, false)) !== null) {
      this.suspended.shift();
      this.keys.push(key);
      const { name, quota, secret, weight } = key;
      await report({ type: 'key', key: { name, quota, secret, weight } });
    }
  }

  private setSuspended(key: LiveKey, suspended: boolean): Promise<KeyBody | null> {
    const change = suspended ? 'suspend' : 'resume';
    const path = `/admin/keys/${key.id}`;
    return this.send(
      'PATCH',
      path,
      { suspended },
      key,
      () => ({ change }),
      null,
      () => this.knowSuspensions(),
    );
  }

  /** Returns the replicas that know suspensions: release 1.0.0 ignores the field, and responds with 200. */
  private knowSuspensions(): ReplicaAddress[] {
    return this.replicas.filter(({ version }) => version === THIS_BUILD.version);
  }

  /** Takes permissions from a key, or returns them. */
  private async restrict(key: LiveKey): Promise<void> {
    const scopes = this.random.chance(0.5) ? READ_ONLY : key.scopes;
    await this.send('PATCH', `/admin/keys/${key.id}`, { scopes }, key, () => ({
      change: 'restrict',
      scopes,
    }));
  }

  private async rotate(key: LiveKey): Promise<void> {
    this.forget(key);
    const name = this.nextName();
    const overlapSeconds = this.random.integer(0, 6);
    const path = `/admin/keys/${key.id}/rotate`;
    const rotated = await this.send('POST', path, { overlapSeconds }, key, () => ({
      change: 'rotate',
      // The overlap begins before the response arrives.
      endsAt: isoIn(overlapSeconds),
    }));
    setTimeout(() => void report({ type: 'ended', key: key.name }), overlapSeconds * 1000);
    this.publish({ ...key, name }, rotated);
  }

  private async changePlan(key: LiveKey): Promise<void> {
    const limits = this.random.pick(OTHER_LIMITS);
    const sameQuota = [...this.keys, ...this.suspended].filter(({ quota }) => quota === key.quota);
    const body = { plan: 'enterprise', ...limits };
    const describe = () => ({ change: 'plan', ...limits }) as const;
    if ((await this.send('PATCH', `/admin/quotas/${key.quotaId}`, body, key, describe)) !== null) {
      sameQuota.forEach((each) => Object.assign(each, limits));
    }
  }

  private async liftBan(key: LiveKey): Promise<void> {
    await this.send('POST', `/admin/quotas/${key.quotaId}/unban`, null, key, () => ({
      change: 'liftBan',
    }));
  }

  /**
   * Gives a key that was issued to the clients, and to this process if it does not end by itself.
   *
   * @param issued null if it was not.
   */
  private publish(
    key: Omit<LiveKey, 'id' | 'quotaId' | 'secret'> & Partial<Pick<LiveKey, 'quotaId'>>,
    issued: KeyBody | null,
    lifeSeconds?: number,
  ): void {
    if (issued === null) {
      return;
    }
    const { name, quota, weight } = key;
    const { id, key: secret, quotaId = key.quotaId ?? '' } = issued;
    void report({ type: 'key', key: { name, quota, secret, weight } });
    if (lifeSeconds === undefined) {
      this.keys.push({ ...key, id, quotaId, secret });
    } else {
      setTimeout(() => void report({ type: 'ended', key: name }), lifeSeconds * 1000);
    }
  }

  private nextName(): string {
    this.issued += 1;
    return `k${this.issued}`;
  }

  /** Returns a key whose holder may issue and revoke others, of this quota if one is given. */
  private pickHolder(quota?: string): LiveKey | undefined {
    const holders = this.keys.filter(
      (key) => key.scopes === HOLDER_SCOPES && key.quota === (quota ?? key.quota),
    );
    return holders.length === 0 ? undefined : this.random.pick(holders);
  }

  private forget(key: LiveKey): void {
    this.keys.splice(this.keys.indexOf(key), 1);
  }

  /**
   * Sends a change of a key to any replica until one carries it out or rejects it. Returns the body of
   * success, else null.
   *
   * @param holder by whose key it is sent; null for the administrator's.
   * @param replicas returns those that it may be sent to.
   */
  private async send(
    method: string,
    path: string,
    body: object | null,
    { name, quota, perMinute, perDay }: Pick<LiveKey, 'name' | 'quota' | 'perMinute' | 'perDay'>,
    describe: () => Pick<Change, 'change'> & Partial<Change>,
    holder: LiveKey | null = null,
    replicas = () => this.replicas,
  ): Promise<KeyBody | null> {
    const { adminKey = '' } = this.setup;
    const request: PlannedRequest = {
      method,
      path,
      key: holder ?? { name: 'administrator', quota: null, secret: adminKey },
      body: body === null ? null : JSON.stringify(body),
      record: null,
      idempotencyKey: null,
      abandonAfterMs: null,
    };
    const key = { key: name, quota, perMinute, perDay, endsAt: null };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const known = replicas();
      const replica = known.length === 0 ? null : this.random.pick(known);
      this.sent += 1;
      const id = `${this.setup.name}-${this.sent}`;
      const outcome = replica && (await exchange(replica, request, id));
      if (replica !== null && outcome !== null) {
        const { sentMs, receivedMs, status } = outcome;
        this.ledger.write({ kind: 'change', sentMs, receivedMs, status, ...key, ...describe() });
        if (holder !== null) {
          // It counts against the quota, like everything that a holder sends.
          this.ledger.write(requestLine({ id, replica: replica.name }, request, outcome));
        }
        if (receivedMs !== null && status !== null && status < 300) {
          return JSON.parse(outcome.body ?? '');
        }
        // A holder whose quota is used up waits for a minute.
        const isRejected = status !== null && status < 500 && (status !== 429 || holder !== null);
        if (receivedMs !== null && isRejected) {
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
  if (message.type === 'replaced') {
    administrator.replace(message.replica, message.version);
  }
  if (message.type === 'stop') {
    administrator.stop();
  }
});
