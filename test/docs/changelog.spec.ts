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

/** Returns the rows of the table of built-in plans, with their limits. */
const planRows = ({ documents }: Version): string[] =>
  (documents['openapi.json'] as Json).info.description.match(/^\| [a-z].*/gim);
const denialsUntilBan = ({ documents }: Version): number =>
  (documents['openapi.json'] as Json).components.schemas.RateLimitStatus.examples[0].denialsUntilBan;

describe('the section [Unreleased] of CHANGELOG.md', () => {
  const [release, tree] = [lastRelease(), readTree()];

  it('has what to do before an upgrade first, if there is anything', () => {
    const headings: string[] = unreleased.match(/^### .*/gm) ?? [];
    expect(headings.indexOf('### Before you upgrade')).toBeLessThan(1);
  });

  it('names every operation, field, parameter, setting, metric and error code that is new', () => {
    const released = shownNames(release);
    const names = new Set(released.map((each) => each.join(' ')));
    // What a new operation or schema has comes with it.
    const parts = new Set(released.flat());
    const added = shownNames(tree).filter(
      ([part, name]) => !names.has(`${part} ${name}`) && (part === '' || parts.has(part)),
    );
    const missing = added.filter(([, name]) => !unreleased.includes(name.replace(/^[A-Z]+ /, '')));
    expect(missing.map(([part, name]) => `${part} ${name}: add a line that names it`)).toStrictEqual([]);
  });

  it('names every built-in plan that is new or has other limits', () => {
    const released = planRows(release);
    const changed = planRows(tree).filter((row) => !released.includes(row));
    const names = changed.map((row) => row.split(' ')[1]?.toLowerCase());
    const missing = names.filter((name) => !unreleased.includes(`plan \`${name}\``));
    expect(missing.map((name) => `plan \`${name}\`: add a line that names it`)).toStrictEqual([]);
  });

  it('says when a ban starts if that changed', () => {
    const isMissing = denialsUntilBan(tree) !== denialsUntilBan(release) && !/ban starts/.test(unreleased);
    expect(isMissing ? ['add a line that says when "a ban starts"'] : []).toStrictEqual([]);
  });
});
