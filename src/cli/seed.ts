import { PrismaService } from '../database/prisma.service.js';
import { readEnvironment } from '../environment.js';
import { seedAdministrator } from '../seed/administrator.js';
import { seedPlans } from '../seed/plans.js';

/** `npx prisma db seed`: plans, and the first administrator's key, printed this once. */
const environment = readEnvironment(process.env);
const prisma = new PrismaService(environment);
try {
  await seedPlans(prisma);
  const administrator = await seedAdministrator(prisma, environment);
  process.stdout.write('The plans have their numbers.\n');
  process.stdout.write(
    administrator === null
      ? 'There is an administrator already.\n'
      : `The administrator's key, shown this once: ${administrator.key}\n`,
  );
} finally {
  await prisma.$disconnect();
}
