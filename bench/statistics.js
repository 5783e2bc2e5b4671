export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** The median of ratios, round by round, with the least and the greatest. */
export function ratioOf(ours, theirs) {
  const ratios = ours.map((number, round) => number / theirs[round]);
  return { median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) };
}
