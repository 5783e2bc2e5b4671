import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import type { Actor } from '../admin/audit/audit.js';
import { KeyService } from '../admin/keys/key.service.js';
import { Clock } from '../settings/clock.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { seedAdministrator } from '../seed/administrator.js';
import { seedPlans } from '../seed/plans.js';
import { type ActorOptions, toActor, withActor } from './actor.js';
import { printLines } from './output/print.js';
import { withServices } from './services.js';

/** The number of the advisory lock that a seed holds; it only has to be the same in all processes. */
const LOCK = 7_446_220_112;

/** `seed`, and `npx prisma db seed`. */
export function seedCommand(): Command {
  return withActor(new Command('seed'))
    .description("create the plans and the first administrator's key (ADMIN_API_KEY)")
    .action((options: ActorOptions) => withServices((services) => seed(services, toActor(options))));
}

/** Creates the plans and the first administrator's key in one transaction, after any that another process seeds. */
async function seed(services: INestApplicationContext, actor: Actor): Promise<void> {
  const administrator = await services.get(PrismaService).$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
    await seedPlans(transaction);
    const keys = services.get(KeyService).within(transaction);
    const environment = services.get<Environment>(ENVIRONMENT);
    return seedAdministrator(transaction, keys, services.get(Clock), environment, actor);
  });
  printLines('The plans are there.', administrator);
}
