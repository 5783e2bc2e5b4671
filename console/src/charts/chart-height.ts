/**
 * The height of a chart with its legend, in pixels. What takes its place is as high, so that nothing below
 * moves.
 */
export const CHART_HEIGHT = 264;
