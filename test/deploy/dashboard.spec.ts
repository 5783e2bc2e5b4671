import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dashboard } from '../../deploy/grafana/animal-store.js';

const FILE = path.join(__dirname, '..', '..', 'deploy', 'grafana', 'animal-store.json');

const { panels } = JSON.parse(dashboard) as { panels: { title: string }[] };

describe('deploy/grafana/animal-store.json', () => {
  it('is what `npm run dashboard` writes', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(dashboard);
  });

  it('contains each panel that docs/runbooks.md names', () => {
    const page = readFileSync(path.join(__dirname, '../../docs/runbooks.md'), 'utf8');
    const named = Array.from(page.matchAll(/"([^"]+)"/g), ([, title]) => title);
    expect(named).not.toStrictEqual([]);
    expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
  });
});
