import { checkBans } from './verifier/bans.js';
import { Claim } from './verifier/claim.js';
import { checkCreations } from './verifier/creations.js';
import { type Evidence, EvidenceError, readEvidence } from './verifier/evidence.js';
import { checkFailedRequests } from './verifier/failed-requests.js';
import { History } from './verifier/history.js';
import { checkHeaders } from './verifier/headers.js';
import { checkKeys } from './verifier/keys.js';
import { checkWindows } from './verifier/windows.js';

/** Checks all claims. */
export function verify(evidence: Evidence): Claim[] {
  const history = new History(evidence);
  const limits = new Claim('a', 'no window lets more through than its limit in force');
  const remaining = new Claim(
    'b',
    'no remaining count is reported twice, and it falls along the order of time',
  );
  const creations = new Claim('c', 'every acknowledged creation is there once, as sent');
  const keys = new Claim('d', 'no key acts later than 1 s after its end, or does what it may no longer do');
  const bans = new Claim(
    'e',
    'a ban starts at the denial that reaches the threshold, and denies every counted request until its end',
  );
  const exceptions = new Claim('f', 'every exception is declared, and within its bound');
  const failed = new Claim(
    'g',
    'what is kept of a failed request is the status, code and time of its response, once',
  );
  checkHeaders(evidence, { limits, remaining });
  checkWindows(evidence, history, { limits, remaining, exceptions });
  const forbidden = checkKeys(evidence, history, keys);
  checkCreations(evidence, forbidden, creations);
  checkBans(evidence, history, bans);
  checkFailedRequests(evidence, history, failed);
  return [limits, remaining, creations, keys, bans, exceptions, failed];
}

/** Returns the claims that were broken or never checked. A run without an exception need not check (f). */
export const notHeld = (claims: Claim[]): Claim[] =>
  claims.filter(({ letter, checked, broken }) => broken > 0 || (checked === 0 && letter !== 'f'));

/** Returns the result as a table, and why claims have not held. */
function describe(claims: Claim[]): string {
  const rows = claims.map(
    ({ letter, text, checked, weakened, broken }) =>
      `| (${letter}) ${text} | ${checked} | ${weakened} | ${broken} |`,
  );
  const reasons = notHeld(claims).flatMap(({ letter, checked, violations }) =>
    (checked === 0 ? ['was never checked'] : violations).map((text) => `- (${letter}) ${text}`),
  );
  return [
    '| claim | checked | weakened | broken |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
    '',
    ...reasons,
  ].join('\n');
}

function main(folder = 'chaos/out'): void {
  try {
    const claims = verify(readEvidence(folder));
    process.stdout.write(`${describe(claims)}\n`);
    process.exitCode = notHeld(claims).length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof EvidenceError)) {
      throw error;
    }
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

if (process.argv[1]?.endsWith('verify.ts')) {
  main(process.argv[2]);
}
