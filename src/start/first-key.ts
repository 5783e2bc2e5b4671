import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { databaseReason } from '../database/access/availability.js';
import type { PrismaService } from '../database/access/prisma.service.js';
import type { Readiness } from '../observability/readiness.js';

const INTERVAL_MS = 1000;
const HOW_TO_ISSUE =
  'run "npx prisma db seed", or in a container "animal-store seed", which issues one to an administrator';

/** Logs the command that issues the first key, once the service is ready, if the database has no key. */
export async function logMissingKeys(
  readiness: Readiness,
  prisma: PrismaService,
  stop: AbortSignal,
): Promise<void> {
  const logger = new Logger('FirstKey');
  try {
    while (!stop.aborted && (await readiness.check()).status !== 'ready') {
      await pause(INTERVAL_MS, undefined, { signal: stop, ref: false }).catch(() => {});
    }
    if (!stop.aborted && (await prisma.apiKey.findFirst({ select: { id: true } })) === null) {
      logger.warn(`There is no API key yet: ${HOW_TO_ISSUE}`);
    }
  } catch (error) {
    logger.warn(`Could not check whether an API key exists: ${databaseReason(error)}`);
  }
}
