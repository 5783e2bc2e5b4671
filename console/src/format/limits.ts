import { numberText } from './number';

export interface LimitPair {
  perMinute: number | null;
  perDay: number | null;
}

/** Returns both limits, such as "60 per minute, 1,000 per day". */
export function limitsText({ perMinute, perDay }: LimitPair, none = 'None'): string {
  return perMinute === null || perDay === null
    ? none
    : `${numberText(perMinute)} per minute, ${numberText(perDay)} per day`;
}
