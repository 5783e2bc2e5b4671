import fc from 'fast-check';
import { CALM_MS, type Episode, FAULT_KINDS, planFaults } from '../../chaos/faults/schedule.js';

const TARGETS = {
  replicas: ['replica-1', 'replica-2'],
  servers: ['postgres', 'redis'],
  links: ['replica-1:postgres', 'replica-2:postgres'],
  groups: ['redis'],
  networks: ['replica-1', 'replica-1:postgres'],
};
/** Of a machine whose kernel loses no packets, and a store that does not fail over. */
const FEWEST = { ...TARGETS, groups: [], networks: [] };
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('planFaults', () => {
  it('returns the same faults for the same seed, and others for another', () => {
    expect(planFaults(1, 10, TARGETS)).toEqual(planFaults(1, 10, TARGETS));
    expect(planFaults(2, 10, TARGETS)).not.toEqual(planFaults(1, 10, TARGETS));
  });

  it('includes every kind of fault that has a target if it lasts two minutes', () => {
    const possible = FAULT_KINDS.filter((kind) => !/^(store-failover|link-loss)$/.test(kind));
    fc.assert(
      fc.property(seeds, (seed) => {
        const kinds = planFaults(seed, 2, FEWEST).flatMap(({ faults }) => faults.map(({ fault }) => fault));
        expect(new Set(kinds)).toEqual(new Set(possible));
      }),
    );
  });

  it('leaves calm between the faults and at the end of the run', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 60 }), (seed, minutes) => {
        const episodes = planFaults(seed, minutes, TARGETS);
        episodes.forEach(({ calmMs }) => expect(calmMs).toBeGreaterThanOrEqual(3000));
        const total = episodes.reduce((sum, episode) => sum + episode.calmMs + lengthOf(episode), CALM_MS);
        expect(total).toBeLessThanOrEqual(minutes * 60_000);
      }),
    );
  });

  it('has a second fault come on top of the first in a third of its episodes or more, elsewhere', () => {
    const episodes = planFaults(5, 60, TARGETS);
    const pairs = episodes.flatMap(({ faults: [first, second] }) =>
      first !== undefined && second !== undefined ? [[first, second] as const] : [],
    );
    expect(pairs.length).toBeGreaterThan(episodes.length / 3);
    for (const [first, second] of pairs) {
      expect(second.target).not.toBe(first.target);
      expect(second.fault).not.toBe(first.fault);
      expect(second.afterMs).toBeLessThanOrEqual(first.lastsMs);
    }
    expect(episodes.filter(({ faults }) => faults.length > 2)).toStrictEqual([]);
  });

  it('lets each fault happen to what it can happen to', () => {
    for (const { fault, target } of planFaults(3, 30, TARGETS).flatMap(({ faults }) => faults)) {
      const [kind = ''] = /^(link-loss|link|store-failover|store)/.exec(fault) ?? ['replica'];
      const targets = {
        link: TARGETS.links,
        'link-loss': TARGETS.networks,
        'store-failover': TARGETS.groups,
        store: TARGETS.servers,
        replica: TARGETS.replicas,
      };
      expect(targets[kind as keyof typeof targets]).toContain(target);
    }
  });
});

const lengthOf = ({ faults }: Episode) =>
  Math.max(...faults.map(({ afterMs, lastsMs }) => afterMs + lastsMs));
