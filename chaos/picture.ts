import { box, legend, line, svg, text } from '../dev/svg.js';
import type { Fault } from './verifier/evidence.js';
import type { Second } from './progress.js';

const [WIDTH, HEIGHT] = [960, 360];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 28, 16, 56];
const COLOURS = { decisions: '#2563eb', degraded: '#e2a23b', fault: '#fecaca' };
const DECISIONS_A_GRID_LINE = [100, 200, 500, 1000, 2000, 5000];

/**
 * Returns the decisions of each second as SVG, with the time of each fault shaded and numbered as in the
 * table of the report.
 *
 * @param startMs when the run started, by the clock of the faults.
 */
export function drawThroughput(seconds: Second[], faults: Fault[], startMs: number): string {
  const length = Math.max(1, ...seconds.map(({ second }) => second));
  const greatest = Math.max(1, ...seconds.map(({ counts }) => counts.decisions));
  const x = (second: number) => LEFT + (Math.min(second, length) / length) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / greatest) * (HEIGHT - TOP - BOTTOM);
  const curve = (name: 'decisions' | 'degraded') => {
    const points = seconds.map(
      ({ second, counts }) => `${x(second).toFixed(1)} ${y(counts[name]).toFixed(1)}`,
    );
    return line(`M${points.join('L')}`, COLOURS[name], ' stroke-width="1.5"');
  };
  const bands = faults.map((fault, index) => {
    const [from, to] = [fault.startMs, fault.endMs ?? Infinity].map((ms) => x((ms - startMs) / 1000)) as [
      number,
      number,
    ];
    const band = box(from, TOP, Math.max(1, to - from), HEIGHT - TOP - BOTTOM, COLOURS.fault);
    // Two at once may be at the same place.
    return band + text((from + to) / 2, TOP + 12 + (index % 2) * 14, String(index + 1));
  });
  const step = DECISIONS_A_GRID_LINE.find((candidate) => greatest / candidate < 6) ?? greatest;
  const grid = Array.from({ length: Math.floor(greatest / step) + 1 }, (_, index) => {
    const level = y(index * step);
    return (
      line(`M${LEFT} ${level.toFixed(1)}H${WIDTH - RIGHT}`, '#e2e8f0') +
      text(LEFT - 6, level + 4, String(index * step), 'end')
    );
  });
  const ticks = Array.from({ length: 7 }, (_, index) => {
    const second = (length * index) / 6;
    return text(x(second), HEIGHT - BOTTOM + 18, `${(second / 60).toFixed(1)} min`);
  });
  const legends = [
    { colour: COLOURS.decisions, title: 'decisions a second' },
    { colour: COLOURS.degraded, title: 'of them counted locally' },
    { colour: COLOURS.fault, title: 'fault, by its number' },
  ].map(({ colour, title }, index) => legend(LEFT + index * 190, HEIGHT - 22, colour, title));
  return svg(WIDTH, HEIGHT, [...bands, ...grid, curve('decisions'), curve('degraded'), ...ticks, ...legends]);
}
