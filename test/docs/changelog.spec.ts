import { readFileSync } from 'node:fs';
import { lastRelease, readTree, type Version } from '../../dev/release/record.js';

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

const CHANGELOG = readFileSync('CHANGELOG.md', 'utf8');
const [, unreleased = ''] = CHANGELOG.split(/^## .*\n/m);

/** Returns what users see of a version, by what it is a part of: an operation, a schema, or nothing. */
function shownNames({ documents, names }: Version): [part: string, name: string][] {
  const { settings, metrics, errorCodes } = names as Json;
  return [
    ...(Object.values(documents) as Json[]).flatMap(({ paths, components }) => [
      ...Object.entries<Json>(paths).flatMap(([path, operations]) =>
        Object.entries<Json>(operations).flatMap(([method, { parameters = [] }]) => [
          ['', `${method.toUpperCase()} ${path}`],
          ...parameters.map(({ name }: Json) => [`${method.toUpperCase()} ${path}`, name]),
        ]),
      ),
      ...Object.entries<Json>(components.schemas).flatMap(([schema, { properties = {} }]) =>
        Object.keys(properties).map((field) => [schema, field]),
      ),
    ]),
    ...[settings.forms, metrics, errorCodes].flatMap(Object.keys).map((name) => ['', name]),
  ] as [string, string][];
}

describe('the section [Unreleased] of CHANGELOG.md', () => {
  it('names every operation, field, parameter, setting, metric and error code that is new', () => {
    const released = shownNames(lastRelease());
    const names = new Set(released.map((each) => each.join(' ')));
    // What a new operation or schema has comes with it.
    const parts = new Set(released.flat());
    const added = shownNames(readTree()).filter(
      ([part, name]) => !names.has(`${part} ${name}`) && (part === '' || parts.has(part)),
    );
    const missing = added.filter(([, name]) => !unreleased.includes(name.replace(/^[A-Z]+ /, '')));
    expect(missing.map(([part, name]) => `${part} ${name}: add a line that names it`)).toStrictEqual([]);
  });
});
