import { countText, numberText } from '../format/number';

const BAR_WIDTH = 4;
const GAP = 1;
const HEIGHT = 28;
/** An hour with few requests still shows, and one without is a line. */
const LEAST_HEIGHT = 3;
const NONE_HEIGHT = 1;

/** Shows the requests of each hour as bars, the current hour last. */
export function Sparkline({ requests }: { requests: number[] }) {
  const highest = Math.max(...requests, 1);
  const sum = requests.reduce((total, each) => total + each, 0);
  const label =
    sum === 0
      ? `No requests in the last ${requests.length} hours`
      : `${countText(sum, 'request')} in the last ${requests.length} hours, ` +
        `at most ${numberText(highest)} in an hour`;
  const width = requests.length * (BAR_WIDTH + GAP) - GAP;
  const bars = requests.map((count, hour) => ({
    x: hour * (BAR_WIDTH + GAP),
    height: count === 0 ? NONE_HEIGHT : Math.max(LEAST_HEIGHT, (count / highest) * HEIGHT),
    className: count === 0 ? 'sparkline-none' : 'sparkline-bar',
  }));
  return (
    <svg role="img" aria-label={label} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
      <title>{label}</title>
      {bars.map(({ x, height, className }) => (
        <rect
          key={x}
          className={className}
          x={x}
          y={HEIGHT - height}
          width={BAR_WIDTH}
          height={height}
          rx={1}
        />
      ))}
    </svg>
  );
}
