import { Inject, Injectable } from '@nestjs/common';
import type { KeyRole } from '../client.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { generateApiKey, hashApiKey, keyHints } from './api-key.js';

/** Own numbers of a quota, in place of its plan's. */
export interface OwnLimits {
  perMinute: number;
  perDay: number;
}

export interface KeyOrder {
  name: string;
  plan: string;
  limits?: OwnLimits | undefined;
  role?: KeyRole | undefined;
  expiresAt?: Date | undefined;
}

/** A new key. `key` is shown this once: only its hash is kept. */
export interface IssuedKey {
  id: string;
  key: string;
  name: string;
  plan: string;
  role: KeyRole;
  perMinute: number;
  perDay: number;
  expiresAt: Date | null;
}

/** An order that cannot be carried out; the message says why and what to do. */
export class RefusedOrderError extends Error {}

/** Issues API keys. */
@Injectable()
export class KeyService {
  constructor(
    @Inject(PrismaService) private readonly prisma: Prisma.TransactionClient,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {}

  /**
   * Issues a key, on a quota of its own.
   *
   * @param key the key itself, where it is given from outside; else a new one is made.
   * @throws RefusedOrderError when there is no such plan, or the plan has no numbers and none are given.
   */
  async issue(order: KeyOrder, key = generateApiKey(this.environment.APP_ENV)): Promise<IssuedKey> {
    const plan = await this.prisma.plan.findUnique({ where: { name: order.plan } });
    if (plan === null) {
      const plans = await this.prisma.plan.findMany({ orderBy: { name: 'asc' } });
      const names = plans.map(({ name }) => name).join(', ');
      throw new RefusedOrderError(
        names === ''
          ? 'There are no plans yet: run "npx prisma db seed" first.'
          : `There is no plan "${order.plan}"; the plans are ${names}.`,
      );
    }
    const perMinute = order.limits?.perMinute ?? plan.perMinute;
    const perDay = order.limits?.perDay ?? plan.perDay;
    if (perMinute === null || perDay === null) {
      throw new RefusedOrderError(
        `Plan "${plan.name}" has no numbers of its own; give those per minute and per day.`,
      );
    }
    const issued = await this.prisma.apiKey.create({
      data: {
        name: order.name,
        role: order.role ?? 'client',
        hash: Uint8Array.from(hashApiKey(key)),
        ...keyHints(key),
        expiresAt: order.expiresAt ?? null,
        quota: {
          create: {
            plan: { connect: { name: plan.name } },
            perMinute: order.limits?.perMinute ?? null,
            perDay: order.limits?.perDay ?? null,
          },
        },
      },
    });
    return {
      id: issued.id,
      key,
      name: issued.name,
      plan: plan.name,
      role: issued.role,
      perMinute,
      perDay,
      expiresAt: issued.expiresAt,
    };
  }

  /** Whether this very key was issued, whatever became of it. */
  async knows(key: string): Promise<boolean> {
    const hash = Uint8Array.from(hashApiKey(key));
    return (await this.prisma.apiKey.findUnique({ where: { hash }, select: { id: true } })) !== null;
  }
}
