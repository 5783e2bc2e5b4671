import type { RateLimitDecision } from './rate-limit-decision.js';

/** What refused a request: the window that had no room, of both the day, which ends later; a ban; or questions asked too often. */
export const REFUSERS = ['minute', 'day', 'ban', 'inquiries'] as const;
export type Refuser = (typeof REFUSERS)[number];

/** How requests of one plan were decided. */
export interface PlanDecisions {
  allowed: number;
  denied: Record<Refuser, number>;
  bansStarted: number;
}

/** Decisions on requests that are counted, by plan. */
export class Decisions {
  private readonly plans = new Map<string, PlanDecisions>();

  get byPlan(): ReadonlyMap<string, PlanDecisions> {
    return this.plans;
  }

  add(plan: string, decision: RateLimitDecision): void {
    const decisions = this.of(plan);
    if (decision.allowed) {
      decisions.allowed += 1;
      return;
    }
    decisions.denied[refuserOf(decision)] += 1;
    decisions.bansStarted += Number(decision.ban?.started === true);
  }

  /** Adds a question where a quota stands, which was refused. */
  addRefusedInquiry(plan: string): void {
    this.of(plan).denied.inquiries += 1;
  }

  private of(plan: string): PlanDecisions {
    let decisions = this.plans.get(plan);
    if (decisions === undefined) {
      decisions = { allowed: 0, denied: { minute: 0, day: 0, ban: 0, inquiries: 0 }, bansStarted: 0 };
      this.plans.set(plan, decisions);
    }
    return decisions;
  }
}

function refuserOf({ ban, windows }: RateLimitDecision): Refuser {
  if (ban !== null) {
    return 'ban';
  }
  return windows.some(({ name, remaining }) => name === 'day' && remaining === 0) ? 'day' : 'minute';
}
