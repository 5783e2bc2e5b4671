import { z } from 'zod';
import { OPEN_LIST_MAX, openEnum } from '../schemas/open-enum.js';
import { dateTime, plainText } from '../schemas/text-schemas.js';
import { banThreshold } from './rules/ban.js';
import { PLAN_NAME_MAX_LENGTH } from './rules/plan-name.js';
import type { RateLimitDecision } from './rules/rate-limit-decision.js';
import { WINDOW_NAMES } from './rules/windows.js';

export const RateLimitStatus = z
  .object({
    plan: plainText('The plan that the quota of the key is on.', PLAN_NAME_MAX_LENGTH),
    windows: z
      .object({
        name: openEnum(WINDOW_NAMES).meta({ description: 'The UTC minute or the UTC day.' }),
        limit: z.int().min(1).meta({ description: 'Requests allowed in this window.' }),
        remaining: z.int().min(0).meta({ description: 'Requests that remain in this window.' }),
        reset: z.int().min(0).meta({ description: 'Unix time, in seconds, at which this window ends.' }),
      })
      .array()
      .max(OPEN_LIST_MAX)
      .meta({
        description: 'The windows in force. A request needs room in all. Later versions may add windows.',
      }),
    denialsUntilBan: z.int().min(0).nullable().meta({
      description:
        'How many denials within this minute it takes to be banned; 0 while banned, null if bans are off.',
    }),
    bannedUntil: dateTime('When the ban ends; null if there is none.').nullable(),
  })
  .meta({
    id: 'RateLimitStatus',
    description: 'The rate-limit status of a quota.',
    examples: [
      {
        plan: 'free',
        windows: [
          { name: 'minute', limit: 60, remaining: 59, reset: 1_795_240_620 },
          { name: 'day', limit: 1000, remaining: 959, reset: 1_795_305_600 },
        ],
        denialsUntilBan: banThreshold({ perMinute: 60, perDay: 1000 }, [1]),
        bannedUntil: null,
      },
    ],
  });
export type RateLimitStatus = z.infer<typeof RateLimitStatus>;

export function rateLimitStatus(
  plan: string,
  { windows, denialsUntilBan, ban }: Pick<RateLimitDecision, 'windows' | 'denialsUntilBan' | 'ban'>,
): RateLimitStatus {
  return {
    plan,
    windows: windows.map(({ name, limit, remaining, resetSeconds }) => ({
      name,
      limit,
      remaining,
      reset: resetSeconds,
    })),
    denialsUntilBan,
    bannedUntil: ban === null ? null : new Date(ban.untilMs).toISOString(),
  };
}
