import { KeyService } from '../admin/key.service.js';
import { PlanService } from '../admin/plan.service.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { seedAdministrator } from '../seed/administrator.js';
import { applySeedFile } from '../seed/apply-seed-file.js';
import { seedPlans } from '../seed/plans.js';
import { readSeedFile } from '../seed/seed-file.js';
import { withServices } from './services.js';

/** Any number that all processes agree on: who holds this lock may seed. */
const LOCK = 7_446_220_112;
const TRANSACTION = { timeout: 60_000, maxWait: 10_000 };

/** `npx prisma db seed`: plans, the first administrator's key, and what SEED_FILE names. All of it or nothing. */
await withServices(async (services) => {
  const environment = services.get<Environment>(ENVIRONMENT);
  const { SEED_FILE, APP_ENV } = environment;
  const file = SEED_FILE === undefined ? null : await readSeedFile(SEED_FILE, APP_ENV);
  const lines = await services.get(PrismaService).$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
    const keys = services.get(KeyService).within(transaction);
    const plans = services.get(PlanService).within(transaction);
    await seedPlans(transaction);
    const administrator = await seedAdministrator(transaction, keys, environment);
    const applied = file === null ? [] : await applySeedFile(file, { transaction, keys, plans });
    return ['The plans are there.', administrator, ...applied];
  }, TRANSACTION);
  process.stdout.write(`${lines.join('\n')}\n`);
});
