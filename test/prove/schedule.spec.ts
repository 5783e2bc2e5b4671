import fc from 'fast-check';
import { FAULT_KINDS, planFaults } from '../../prove/faults/schedule.js';

const TARGETS = {
  replicas: ['replica-1', 'replica-2'],
  servers: ['postgres', 'redis'],
  links: ['replica-1:postgres', 'replica-2:postgres'],
};
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('planFaults', () => {
  it('returns the same faults for the same seed, and others for another', () => {
    expect(planFaults(1, 10, TARGETS)).toEqual(planFaults(1, 10, TARGETS));
    expect(planFaults(2, 10, TARGETS)).not.toEqual(planFaults(1, 10, TARGETS));
  });

  it('includes every kind of fault if it lasts two minutes', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const kinds = planFaults(seed, 2, TARGETS).map(({ fault }) => fault);
        expect(new Set(kinds)).toEqual(new Set(FAULT_KINDS));
      }),
    );
  });

  it('ends each fault before the next one and before the run ends', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 60 }), (seed, minutes) => {
        const faults = planFaults(seed, minutes, TARGETS);
        const starts = [...faults.slice(1).map(({ atMs }) => atMs), minutes * 60_000];
        faults.forEach(({ atMs, lastsMs }, index) => expect(atMs + lastsMs).toBeLessThan(starts[index] ?? 0));
      }),
    );
  });

  it('lets each fault happen to what it can happen to', () => {
    for (const { fault, target } of planFaults(3, 30, TARGETS)) {
      const [kind = ''] = /^(link|store)/.exec(fault) ?? ['replica'];
      const targets = { link: TARGETS.links, store: TARGETS.servers, replica: TARGETS.replicas };
      expect(targets[kind as keyof typeof targets]).toContain(target);
    }
  });
});
