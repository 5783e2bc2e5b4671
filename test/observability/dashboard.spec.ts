import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dashboard } from '../../deploy/grafana/animal-store.js';

const FILE = path.join(__dirname, '..', '..', 'deploy', 'grafana', 'animal-store.json');

describe('deploy/grafana/animal-store.json', () => {
  it('is what `npm run dashboard` writes', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(dashboard);
  });
});
