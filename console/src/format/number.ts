const grouped = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** Returns an integer with its digits grouped as in the reader's language. */
export function numberText(value: number | bigint): string {
  return grouped.format(value);
}

/** Returns a short form for an axis, such as "12.5K", but the digits of a number that is short. */
export function compactText(value: number): string {
  return (value < 10_000 ? grouped : compact).format(value);
}

/** Returns the number and the noun, such as "1 request" or "1,200 requests". */
export function countText(value: number, one: string, many = `${one}s`): string {
  return `${numberText(value)} ${value === 1 ? one : many}`;
}
