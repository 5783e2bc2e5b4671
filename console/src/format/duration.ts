/** Returns a duration as its two largest units, such as "1 h 4 min"; a started second counts. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([value]) => value > 0);
  return first === -1
    ? '0 s'
    : units
        .slice(first, first + 2)
        .filter(([value]) => value > 0)
        .map(([value, unit]) => `${value} ${unit}`)
        .join(' ');
}
