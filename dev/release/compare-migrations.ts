import type { Fault } from './fault.js';

/**
 * Returns which released migrations are missing or edited, and which new ones would run before a released
 * one: databases that have the release would differ from new ones.
 *
 * @param released the checksums of the last release, by the names of migrations.
 */
export function compareMigrations(
  released: Record<string, string>,
  current: Record<string, string>,
): Fault[] {
  const last = Object.keys(released).toSorted().at(-1) ?? '';
  const faults = Object.entries(released)
    .filter(([name, checksum]) => current[name] !== checksum)
    .map(([name]) => ({
      place: `prisma/migrations/${name}`,
      problem:
        `It was released, and is ${current[name] === undefined ? 'missing' : 'another one now'}. ` +
        'Databases have it as it was: restore it, and change the tables in a new migration.',
    }));
  const early = Object.keys(current)
    .filter((name) => released[name] === undefined && name < last)
    .map((name) => ({
      place: `prisma/migrations/${name}`,
      problem: `It is new, but comes before ${last}, which is released. Give it a later date.`,
    }));
  return [...faults, ...early];
}
