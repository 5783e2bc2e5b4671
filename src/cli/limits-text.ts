/** Returns the limits of a key or a plan as text. */
export function limitsText({
  perMinute,
  perDay,
}: {
  perMinute: number | null;
  perDay: number | null;
}): string {
  return `${perMinute ?? 'no'} requests per minute, ${perDay ?? 'none'} per day`;
}
