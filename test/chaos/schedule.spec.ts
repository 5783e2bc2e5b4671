import fc from 'fast-check';
import { CALM_MS, FAULT_KINDS, planFaults } from '../../chaos/faults/schedule.js';

const TARGETS = {
  replicas: ['replica-1', 'replica-2'],
  servers: ['postgres', 'redis'],
  links: ['replica-1:postgres', 'replica-2:postgres'],
  groups: ['redis'],
};
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('planFaults', () => {
  it('returns the same faults for the same seed, and others for another', () => {
    expect(planFaults(1, 10, TARGETS)).toEqual(planFaults(1, 10, TARGETS));
    expect(planFaults(2, 10, TARGETS)).not.toEqual(planFaults(1, 10, TARGETS));
  });

  it('includes every kind of fault that has a target if it lasts two minutes', () => {
    const possible = FAULT_KINDS.filter((kind) => kind !== 'store-failover');
    fc.assert(
      fc.property(seeds, (seed) => {
        const kinds = planFaults(seed, 2, { ...TARGETS, groups: [] }).map(({ fault }) => fault);
        expect(new Set(kinds)).toEqual(new Set(possible));
      }),
    );
  });

  it('leaves calm between the faults and at the end of the run', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 60 }), (seed, minutes) => {
        const faults = planFaults(seed, minutes, TARGETS);
        faults.forEach(({ calmMs }) => expect(calmMs).toBeGreaterThanOrEqual(3000));
        const total = faults.reduce((sum, { calmMs, lastsMs }) => sum + calmMs + lastsMs, CALM_MS);
        expect(total).toBeLessThanOrEqual(minutes * 60_000);
      }),
    );
  });

  it('lets each fault happen to what it can happen to', () => {
    for (const { fault, target } of planFaults(3, 30, TARGETS)) {
      const [kind = ''] = /^(link|store-failover|store)/.exec(fault) ?? ['replica'];
      const targets = {
        link: TARGETS.links,
        'store-failover': TARGETS.groups,
        store: TARGETS.servers,
        replica: TARGETS.replicas,
      };
      expect(targets[kind as keyof typeof targets]).toContain(target);
    }
  });
});
