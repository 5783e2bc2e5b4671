import { dateUnreleased, readSection } from '../../dev/release/changelog.js';

const HEAD = '# Changelog\n\nChanges.\n\n## [Unreleased]\n';
const CHANGELOG = `${HEAD}
### Before you upgrade

- The port changed.

### Added

For clients:

- A colour, which costs $1 to $&.

### Fixed

- A crash.

## 1.0.0 - 2026-11-28

### Added

- All.
`;

describe('dateUnreleased', () => {
  it('moves all entries into a dated section, and leaves an empty one', () => {
    expect(dateUnreleased(CHANGELOG, '1.1.0', '2026-12-24')).toBe(
      CHANGELOG.replace(HEAD, `${HEAD}\n## 1.1.0 - 2026-12-24\n`),
    );
  });

  it.each([
    ['there is no entry', `${HEAD}\n## 1.0.0 - 2026-11-28\n\n- All.\n`],
    ['there are only headings', `${HEAD}\n### Added\n\nFor clients:\n\n## 1.0.0 - 2026-11-28\n\n- All.\n`],
    ['there is no such section', '# Changelog\n'],
  ])('throws when %s', (_when, changelog) => {
    expect(() => dateUnreleased(changelog, '1.1.0', '2026-12-24')).toThrow(
      'CHANGELOG.md has no entry under [Unreleased].',
    );
  });

  it('throws when the version has a section', () => {
    expect(() => dateUnreleased(CHANGELOG, '1.0.0', '2026-12-24')).toThrow(
      'CHANGELOG.md already has a section of 1.0.0.',
    );
  });
});

describe('readSection', () => {
  it('returns the entries of a version, without its heading', () => {
    const released = dateUnreleased(CHANGELOG, '1.1.0', '2026-12-24');
    expect(readSection(released, '1.1.0')).toBe(
      '### Before you upgrade\n\n- The port changed.\n\n' +
        '### Added\n\nFor clients:\n\n- A colour, which costs $1 to $&.\n\n### Fixed\n\n- A crash.\n',
    );
    expect(readSection(released, '1.0.0')).toBe('### Added\n\n- All.\n');
  });

  it('throws when the version has no section', () => {
    expect(() => readSection(CHANGELOG, '1.1.0')).toThrow('CHANGELOG.md has no section of 1.1.0.');
  });
});
