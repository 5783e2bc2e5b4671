import type { Fault } from './verifier/evidence.js';
import type { Second } from './progress.js';

const [WIDTH, HEIGHT] = [960, 360];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 16, 56];
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
  const line = (name: 'decisions' | 'degraded') => {
    const points = seconds.map(
      ({ second, counts }) => `${x(second).toFixed(1)},${y(counts[name]).toFixed(1)}`,
    );
    const stroke = `stroke="${COLOURS[name]}" stroke-width="1.5"`;
    return `<polyline points="${points.join(' ')}" fill="none" ${stroke}/>`;
  };
  const bands = faults.map((fault, index) => {
    const [from, to] = [fault.startMs, fault.endMs ?? Infinity].map((ms) => x((ms - startMs) / 1000)) as [
      number,
      number,
    ];
    const box =
      `<rect x="${from.toFixed(1)}" y="${TOP}" width="${Math.max(1, to - from).toFixed(1)}" ` +
      `height="${HEIGHT - TOP - BOTTOM}" fill="${COLOURS.fault}"/>`;
    // Two at once may be at the same place.
    return box + text((from + to) / 2, TOP + 12 + (index % 2) * 14, String(index + 1));
  });
  const step = DECISIONS_A_GRID_LINE.find((candidate) => greatest / candidate < 6) ?? greatest;
  const grid = Array.from({ length: Math.floor(greatest / step) + 1 }, (_, index) => {
    const level = y(index * step).toFixed(1);
    return (
      `<path d="M${LEFT} ${level}H${WIDTH - RIGHT}" ` +
      `stroke="#e2e8f0"/>${text(LEFT - 6, Number(level) + 4, String(index * step), 'end')}`
    );
  });
  const ticks = Array.from({ length: 7 }, (_, index) => {
    const second = (length * index) / 6;
    return text(x(second), HEIGHT - BOTTOM + 18, `${(second / 60).toFixed(1)} min`);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" ` +
      'font-size="12">',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    ...bands,
    ...grid,
    line('decisions'),
    line('degraded'),
    ...ticks,
    legend(LEFT, COLOURS.decisions, 'decisions a second'),
    legend(LEFT + 180, COLOURS.degraded, 'of them counted locally'),
    legend(LEFT + 380, COLOURS.fault, 'fault, by its number'),
    '</svg>\n',
  ].join('\n');
}

function legend(x: number, colour: string, title: string): string {
  return (
    `<rect x="${x}" y="${HEIGHT - 22}" width="12" height="12" ` +
    `fill="${colour}"/>${text(x + 18, HEIGHT - 12, title, 'start')}`
  );
}

const text = (x: number, y: number, content: string, anchor = 'middle') =>
  `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" fill="#0f172a">${content}</text>`;
