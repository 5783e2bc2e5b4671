import type { Admission } from './admission.js';

/** What refused a request: the window that had no room, of both the day, which ends later; a ban; or questions asked too often. */
export const REFUSERS = ['minute', 'day', 'ban', 'inquiries'] as const;
export type Refuser = (typeof REFUSERS)[number];

/** How requests of one plan were decided. */
export interface PlanDecisions {
  admitted: number;
  refused: Record<Refuser, number>;
  bansStarted: number;
}

/** Decisions on requests that are counted, by plan. */
export class Decisions {
  private readonly plans = new Map<string, PlanDecisions>();

  get byPlan(): ReadonlyMap<string, PlanDecisions> {
    return this.plans;
  }

  add(plan: string, admission: Admission): void {
    const decisions = this.of(plan);
    if (admission.admitted) {
      decisions.admitted += 1;
      return;
    }
    decisions.refused[refuserOf(admission)] += 1;
    decisions.bansStarted += Number(admission.ban?.started === true);
  }

  /** Adds a question where a quota stands, which was refused. */
  addRefusedInquiry(plan: string): void {
    this.of(plan).refused.inquiries += 1;
  }

  private of(plan: string): PlanDecisions {
    let decisions = this.plans.get(plan);
    if (decisions === undefined) {
      decisions = { admitted: 0, refused: { minute: 0, day: 0, ban: 0, inquiries: 0 }, bansStarted: 0 };
      this.plans.set(plan, decisions);
    }
    return decisions;
  }
}

function refuserOf({ ban, windows }: Admission): Refuser {
  if (ban !== null) {
    return 'ban';
  }
  return windows.some(({ name, remaining }) => name === 'day' && remaining === 0) ? 'day' : 'minute';
}
