import { Refusal } from '../refusal.js';

const UNRELEASED = '## [Unreleased]\n';

/** @throws Refusal if there are no entries in *Unreleased*, or a section of this version exists. */
export function checkUnreleased(changelog: string, version: string): void {
  if (findSection(changelog, heading(version)) !== null) {
    throw new Refusal(`CHANGELOG.md already has a section of ${version}.`);
  }
  const entries = findSection(changelog, UNRELEASED) ?? '';
  if (!/^- /m.test(entries)) {
    throw new Refusal('CHANGELOG.md has no entry under [Unreleased].');
  }
}

/**
 * Moves the entries of *Unreleased* into a section of this version, and leaves *Unreleased* empty.
 *
 * @param date such as `2026-11-28`.
 * @throws Refusal if there are no entries, or a section of this version exists.
 */
export function dateUnreleased(changelog: string, version: string, date: string): string {
  checkUnreleased(changelog, version);
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n${heading(version)}${date}\n`);
}

/** Returns the entries of a released version. @throws Refusal if there is no such section. */
export function readSection(changelog: string, version: string): string {
  const section = findSection(changelog, heading(version));
  if (section === null) {
    throw new Refusal(`CHANGELOG.md has no section of ${version}.`);
  }
  // Without the rest of the heading's line.
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}

const heading = (version: string) => `## ${version} - `;

/** Returns the text from the start of a heading to the next heading of that level. */
function findSection(changelog: string, start: string): string | null {
  const [, section] = `\n${changelog}`.split(`\n${start}`);
  return section?.split(/^## /m)[0] ?? null;
}
