// Looks up all locked packages in the npm registry: those of the service, its development, the client, the
// bench and the peers. Exits with 1 for a known vulnerability of severity high or critical, and with 75 ("try
// again later", sysexits.h) if the registry does not respond.

import { spawnSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const PACKAGES = ['.', '.ci/programs', 'client', 'client/test/runtimes', 'bench', 'chaos/peers/servers'];
const FOUND = 1;
const NOT_ASKED = 75;

/** Returns the vulnerabilities that npm reports for a folder, or the reason why it reports none. */
function audit(name) {
  const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: path.join(ROOT, name),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error !== undefined) {
    throw error;
  }
  const { vulnerabilities, message } = JSON.parse(stdout || '{}');
  return vulnerabilities === undefined
    ? { reason: message ?? stderr.trim() }
    : { holes: Object.values(vulnerabilities) };
}

let code = 0;
for (const name of PACKAGES) {
  const { holes, reason } = audit(name);
  if (holes === undefined) {
    process.stdout.write(`${name}: NOT ASKED: ${reason}\n`);
    code ||= NOT_ASKED;
    continue;
  }
  const grave = holes.filter(({ severity }) => severity === 'high' || severity === 'critical');
  process.stdout.write(
    `${name}: ${grave.length} of severity high or critical, ${holes.length - grave.length} lesser\n`,
  );
  for (const { name: dependency, severity, range, via } of grave) {
    const titles = via.map((cause) =>
      typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`,
    );
    process.stdout.write(`  ${severity}: ${dependency} ${range}: ${titles.join('; ')}\n`);
    code = FOUND;
  }
}
process.exitCode = code;
