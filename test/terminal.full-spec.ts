import { createDatabase, type TestDatabase } from './support/database.js';
import { run } from './support/service-process.js';

describe('the terminal command', () => {
  let database: TestDatabase;
  const admin = (...args: string[]) =>
    run('cli/admin.js', { DATABASE_URL: database.url, APP_ENV: 'production' }, ...args);

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('issues a key on a quota with its own numbers, and prints one JSON object', async () => {
    const numbers = ['--per-minute', '7', '--per-day', '70'];
    const { code, stdout, stderr } = await admin(
      'keys',
      'issue',
      '--name',
      'Ann',
      '--plan',
      'enterprise',
      ...numbers,
      '--json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      key: expect.stringMatching(/^ask_live_\w{38}$/),
      name: 'Ann',
      plan: 'enterprise',
      role: 'client',
      perMinute: 7,
      perDay: 70,
      expiresAt: null,
    });
  });

  it('shows the key to a person once, with what it may use', async () => {
    const { code, stdout } = await admin(
      'keys',
      'issue',
      '--name',
      'Bob',
      '--plan',
      'free',
      '--role',
      'admin',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/key +ask_live_\w{38}\n/);
    expect(stdout).toContain('free, 60 requests per minute, 1000 per day');
  });

  it.each([
    [['--plan', 'gold'], 'There is no plan "gold"; the plans are business, enterprise, free, pro.'],
    [
      ['--plan', 'enterprise'],
      'Plan "enterprise" has no numbers of its own; give those per minute and per day.',
    ],
  ])('refuses %j with the reason and exit code 1', async (args, reason) => {
    const { code, stdout, stderr } = await admin('keys', 'issue', '--name', 'x', ...args);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `${reason}\n` });
  });

  it.each([
    [['keys', 'issue', '--plan', 'free'], "required option '--name <name>' not specified"],
    [['keys', 'issue', '--name', ' ', '--plan', 'free'], 'It must be 1 to 255 characters'],
    [
      ['keys', 'issue', '--name', 'x', '--plan', 'free', '--per-minute', '0', '--per-day', '5'],
      'whole number from 1',
    ],
    [
      ['keys', 'issue', '--name', 'x', '--plan', 'free', '--per-minute', '5'],
      '--per-minute and --per-day go together',
    ],
    [
      ['keys', 'issue', '--name', 'x', '--plan', 'free', '--role', 'king'],
      'Allowed choices are client, admin',
    ],
    [['keys', 'burn'], "unknown command 'burn'"],
  ])('tells %j apart as wrong usage, with exit code 2', async (args, fault) => {
    const { code, stdout, stderr } = await admin(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(fault);
  });

  it('has help with an example', async () => {
    const { code, stdout } = await admin('keys', 'issue', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Example:');
  });

  it('says what to do where no database runs', async () => {
    const { code, stderr } = await run(
      'cli/admin.js',
      { DATA_DIR: '/nonexistent/data' },
      'keys',
      'issue',
      '--name',
      'x',
      '--plan',
      'free',
    );
    expect(code).toBe(1);
    expect(stderr).toContain(
      'No embedded database runs in /nonexistent/data: start the service first ("npm start"), or set DATABASE_URL.',
    );
  });
});

describe('the seed', () => {
  let database: TestDatabase;
  const seed = () => run('cli/seed.js', { DATABASE_URL: database.url, APP_ENV: 'production' });

  beforeAll(async () => {
    database = await createDatabase();
    await database.query("UPDATE plans SET per_minute = 1 WHERE name = 'free'");
  });
  afterAll(() => database.drop());

  it('brings plans to their numbers and makes one administrator, also when two run at once', async () => {
    const runs = await Promise.all([seed(), seed()]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(runs.filter(({ stdout }) => /shown this once: ask_live_\w{38}/.test(stdout))).toHaveLength(1);
    expect(await database.query('SELECT * FROM plans ORDER BY per_minute')).toEqual([
      { name: 'free', per_minute: 60, per_day: 1000 },
      { name: 'pro', per_minute: 300, per_day: 10_000 },
      { name: 'business', per_minute: 1000, per_day: 100_000 },
      { name: 'enterprise', per_minute: null, per_day: null },
    ]);
  });

  it('never makes a second administrator', async () => {
    const { code, stdout } = await seed();
    expect(code).toBe(0);
    expect(stdout).toContain('There is an administrator already.');
    expect(await database.query("SELECT count(*)::int FROM api_keys WHERE role = 'admin'")).toEqual([
      { count: 1 },
    ]);
  });

  it('says that DATABASE_URL is missing', async () => {
    const { code, stderr } = await run('cli/seed.js', {});
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
  });
});
