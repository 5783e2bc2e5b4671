import { seedAdministrator } from '../seed/administrator.js';
import { seedPlans } from '../seed/plans.js';
import { runOnDatabase } from './command.js';

/** `npx prisma db seed`: plans, and the first administrator's key, printed this once. */
await runOnDatabase(async (prisma, environment) => {
  await seedPlans(prisma);
  const administrator = await seedAdministrator(prisma, environment);
  process.stdout.write('The plans have their numbers.\n');
  process.stdout.write(
    administrator === null
      ? 'There is an administrator already.\n'
      : `The administrator's key, shown this once: ${administrator.key}\n`,
  );
});
