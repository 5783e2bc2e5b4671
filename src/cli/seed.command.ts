import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import type { Actor } from '../admin/audit/audit.js';
import { KeyService } from '../admin/keys/key.service.js';
import { PlanService } from '../admin/plans/plan.service.js';
import { Clock } from '../settings/clock.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { seedAdministrator } from '../seed/administrator.js';
import { applySeedFile } from '../seed/apply-seed-file.js';
import { seedPlans } from '../seed/plans.js';
import { readSeedFile } from '../seed/seed-file.js';
import { actorOf, type ActorOptions, withActor } from './actor.js';
import { printLines } from './output/print.js';
import { withServices } from './services.js';

/** The number of the advisory lock that a seed holds; it only has to be the same in all processes. */
const LOCK = 7_446_220_112;
const LOCK_RETRY_MS = 100;
/** Long enough to wait for a concurrent seed, and to run. */
const TRANSACTION = { timeout: 120_000, maxWait: 10_000 };

/** `seed`, and `npx prisma db seed`. */
export function seedCommand(): Command {
  return withActor(new Command('seed'))
    .description("create the plans and the first administrator's key (ADMIN_API_KEY), and apply SEED_FILE")
    .action((options: ActorOptions) => withServices((services) => seed(services, actorOf(options))));
}

/** Creates the plans and the first administrator's key, and applies SEED_FILE, in one transaction. */
async function seed(services: INestApplicationContext, actor: Actor): Promise<void> {
  const environment = services.get<Environment>(ENVIRONMENT);
  const { SEED_FILE, APP_ENV } = environment;
  const file = SEED_FILE === undefined ? null : await readSeedFile(SEED_FILE, APP_ENV);
  const lines = await services.get(PrismaService).$transaction(async (transaction) => {
    await waitForTurn(transaction);
    const keys = services.get(KeyService).within(transaction);
    const plans = services.get(PlanService).within(transaction);
    await seedPlans(transaction);
    const administrator = await seedAdministrator(transaction, keys, services.get(Clock), environment, actor);
    const applied = file === null ? [] : await applySeedFile(file, { transaction, keys, plans, actor });
    return ['The plans are there.', administrator, ...applied];
  }, TRANSACTION);
  printLines(...lines);
}

/** Waits for a concurrent seed. Polls, because a waiting statement would exceed the service's statement timeout. */
async function waitForTurn(transaction: Prisma.TransactionClient): Promise<void> {
  for (;;) {
    const [turn] = await transaction.$queryRaw<{ taken: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(${LOCK}) AS taken`;
    if (turn?.taken === true) {
      return;
    }
    await pause(LOCK_RETRY_MS);
  }
}
