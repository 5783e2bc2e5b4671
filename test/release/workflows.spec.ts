import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const ROOT = path.join(__dirname, '..', '..');
const FOLDER = path.join(ROOT, '.github', 'workflows');
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

describe.each(readdirSync(FOLDER))('%s', (file) => {
  it('uses actions and images only by their hashes, with the version beside it', () => {
    const uses = [...read(file).matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action]) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
    for (const [, image] of read(file).matchAll(/^ *image: (.*)$/gm)) {
      expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    }
  });

  it('gives its jobs no right by default but to read', () => {
    const { permissions = 'all' } = parse(read(file));
    expect([{}, { contents: 'read' }]).toContainEqual(permissions);
  });
});

describe('ci.yml', () => {
  it('runs each part of .ci/run in a job of its own', () => {
    const { jobs } = parse(read('ci.yml'));
    const [, parts = ''] = /^PARTS=\((.*)\)$/m.exec(readFileSync(path.join(ROOT, '.ci/run'), 'utf8')) ?? [];
    expect(jobs.gates.strategy.matrix.part).toEqual(parts.split(' '));
    expect(jobs.gates.steps.at(-1)).toEqual({ run: 'bash .ci/run ${{ matrix.part }}' });
  });
});

describe('release.yml', () => {
  it('publishes nothing before it has seen the record of the version', () => {
    const { steps } = parse(read('release.yml')).jobs.publish;
    const checks = steps.findIndex(({ run = '' }) =>
      run.includes('releases/${GITHUB_REF_NAME#v}/release.json'),
    );
    expect(steps[0].with).toMatchObject({ 'fetch-depth': 0 });
    expect(checks).toBeGreaterThan(0);
    expect(checks).toBeLessThan(steps.findIndex(({ run = '' }) => /docker push|gh release/.test(run)));
  });
});
