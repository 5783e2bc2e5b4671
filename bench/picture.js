import { box, legend, line, svg, text } from '../dev/svg.js';

const [WIDTH, HEIGHT] = [760, 300];
const [LEFT, TOP, BOTTOM] = [16, 44, 40];
const BAR = 30;
const GAP = 4;
const COLOURS = ['#2563eb', '#94a3b8', '#cbd5e1', '#e2a23b'];

/**
 * Returns a bar chart as SVG.
 *
 * @param {string[]} groups the titles of the groups.
 * @param {{ title: string, values: (number | undefined)[] }[]} series a value for each group; undefined has
 *   no bar.
 * @param {(value: number) => string} label the text above a bar.
 */
export function barChart(groups, series, label) {
  const greatest = Math.max(...series.flatMap(({ values }) => values.filter(Boolean)));
  const scale = (HEIGHT - TOP - BOTTOM - 16) / greatest;
  const step = (WIDTH - 2 * LEFT) / groups.length;
  const floor = HEIGHT - BOTTOM;
  const bars = groups.flatMap((_title, group) => {
    const present = series.flatMap(({ values }, index) => (values[group] ? [[index, values[group]]] : []));
    const start = LEFT + step * group + (step - present.length * (BAR + GAP)) / 2;
    return present.map(([index, value], position) => {
      const [x, height] = [start + position * (BAR + GAP), value * scale];
      return (
        box(x, floor - height, BAR, height, COLOURS[index]) +
        text(x + BAR / 2, floor - height - 5, label(value))
      );
    });
  });
  return svg(WIDTH, HEIGHT, [
    ...series.map(({ title }, index) => legend(LEFT + index * 180, 12, COLOURS[index], title)),
    ...bars,
    line(`M${LEFT} ${floor}H${WIDTH - LEFT}`, '#475569'),
    ...groups.map((title, group) => text(LEFT + step * (group + 0.5), HEIGHT - 16, title)),
  ]);
}
