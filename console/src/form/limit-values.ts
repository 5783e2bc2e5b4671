/** The limits of a plan or a quota as a form has them. */
export interface LimitValues {
  perMinute: string;
  perDay: string;
}

/**
 * Returns what is wrong with each limit; the service checks its range. `missing` is the message for an empty
 * one.
 */
export function limitErrors(
  { perMinute, perDay }: LimitValues,
  missing = 'Enter a whole number of requests',
): Partial<LimitValues> {
  const error = (limit: string) => (limit.trim() === '' ? missing : 'Enter a whole number of requests');
  return {
    ...(wholeNumber(perMinute) === null && { perMinute: error(perMinute) }),
    ...(wholeNumber(perDay) === null && { perDay: error(perDay) }),
  };
}

/** Returns the number that a text is, or null, such as while it is typed. */
export function wholeNumber(text: string): number | null {
  return /^\d{1,10}$/.test(text.trim()) ? Number(text) : null;
}
