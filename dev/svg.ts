// What the pictures of documents have in common.

/** Returns a picture on a white background as SVG. */
export const svg = (width: number, height: number, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" ` +
      'font-size="12">',
    box(0, 0, width, height, 'white'),
    ...parts,
    '</svg>\n',
  ].join('\n');

/** @param anchor which end of the text is at `x`. */
export const text = (
  x: number,
  y: number,
  content: string,
  anchor: 'start' | 'middle' | 'end' = 'middle',
): string => `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="#0f172a">${content}</text>`;

export function box(x: number, y: number, width: number, height: number, colour: string): string {
  const size = `width="${round(width)}" height="${round(height)}"`;
  return `<rect x="${round(x)}" y="${round(y)}" ${size} fill="${colour}"/>`;
}

/** @param d the path, as SVG's attribute of that name. @param attributes further ones, after a space. */
export const line = (d: string, colour: string, attributes = ''): string =>
  `<path d="${d}" fill="none" stroke="${colour}"${attributes}/>`;

/** Returns a colour with its meaning. */
export const legend = (x: number, y: number, colour: string, title: string): string =>
  box(x, y, 12, 12, colour) + text(x + 18, y + 10, title, 'start');

/** A tenth is finer than a screen shows. */
const round = (value: number): string => String(Math.round(value * 10) / 10);
