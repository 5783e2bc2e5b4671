import { type Column, fitColumns } from './fit-columns.js';

const COLUMNS: Column[] = [
  { head: 'name', fit: 'cut' },
  { head: 'id' },
  { head: 'role', rank: 1 },
  { head: 'key', rank: 2 },
];
const fitted = (widths: number[], terminalWidth: number, columns = COLUMNS) =>
  fitColumns(columns, widths, terminalWidth).map(({ index, width }) => `${columns[index]?.head} ${width}`);

describe('fitColumns', () => {
  it('returns all columns with their full widths when they fit', () => {
    expect(fitted([20, 9, 6, 14], 55)).toEqual(['name 20', 'id 9', 'role 6', 'key 14']);
  });

  it('returns narrower texts when that is enough', () => {
    expect(fitted([40, 9, 6, 14], 55)).toEqual(['name 20', 'id 9', 'role 6', 'key 14']);
  });

  it('leaves out the columns of the highest ranks when that is not enough, and gives their width to the texts', () => {
    expect(fitted([40, 9, 6, 14], 50)).toEqual(['name 31', 'id 9', 'role 6']);
    expect(fitted([40, 9, 6, 14], 30)).toEqual(['name 19', 'id 9']);
  });

  it('returns the required columns even when they do not fit', () => {
    expect(fitted([40, 9, 6, 14], 10)).toEqual(['name 16', 'id 9']);
  });

  it('returns texts of equal widths when there are several', () => {
    const columns: Column[] = [
      { head: 'who', fit: 'cut' },
      { head: 'what', fit: 'wrap' },
    ];
    expect(fitted([30, 100], 82, columns)).toEqual(['who 30', 'what 50']);
    expect(fitted([30, 100], 42, columns)).toEqual(['who 20', 'what 20']);
  });
});
