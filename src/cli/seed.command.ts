import { KeyService } from '../keys/key.service.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { requireUtf8 } from '../database/access/server-encoding.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { seedAdministrator } from './seed-administrator.js';
import { seedPlans } from '../start/plans.js';
import { changeCommand, type ChangeOptions } from './command.js';
import { linesText } from './output/text.js';

/** Arbitrary, and the same in all processes. */
const LOCK = 7_446_220_112;

/** `seed`, and `npx prisma db seed`: seeds in one transaction, after any that another process seeds. */
export const seedCommand = changeCommand(
  'seed',
  "create the plans and the first administrator's key (ADMIN_API_KEY)",
).run(async (services, { as }: ChangeOptions) => {
  const prisma = services.get(PrismaService);
  await requireUtf8(prisma.pools.queries);
  const { plans, line, ...administrator } = await prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
    const names = await seedPlans(transaction);
    const keys = services.get(KeyService).within(transaction);
    const environment = services.get<Environment>(ENVIRONMENT);
    const seeded = await seedAdministrator(transaction, keys, environment, as);
    return { plans: names, ...seeded };
  });
  return { value: { plans, administrator }, text: () => linesText('The plans exist.', line) };
});
