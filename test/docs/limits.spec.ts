import { readFileSync } from 'node:fs';
import { BUILT_IN_PLANS } from '../../src/auth/rules/built-in-plans.js';
import { banThreshold } from '../../src/rate-limit/rules/ban.js';

const text = readFileSync('docs/limits.md', 'utf8').replaceAll(/\s+/g, ' ');

describe('docs/limits.md', () => {
  it('has the limits of the built-in plans', () => {
    const show = (limit: number | null) => limit?.toLocaleString('en-US') ?? 'set for each quota';
    const rows = Object.entries(BUILT_IN_PLANS).map(
      ([name, { perMinute, perDay }]) => `| ${name} | ${show(perMinute)} | ${show(perDay)} |`,
    );
    expect(text).toContain(rows.join(' '));
  });

  it('says how many denials start a ban', () => {
    const times = Number(banThreshold({ perMinute: 60, perDay: 1000 }, [1])) / 60;
    const inWords = ['', '', 'twice '][times] ?? `${times} times `;
    expect(text).toContain(
      `denials within a UTC minute, by either window, reach ${inWords}the limit per minute.`,
    );
  });
});
