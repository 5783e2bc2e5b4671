import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ADVISORIES_PATH = '/-/npm/v1/security/advisories/bulk';
const ADVISORY = {
  id: 1,
  url: 'https://example.org/advisories/1',
  title: 'Lets everybody in',
  vulnerable_versions: '>=0',
  cwe: [],
  cvss: { score: 8, vectorString: null },
};

/** The vulnerable package, one that the client locks. */
const NAME = 'openapi-fetch';
const VERSION = '0.17.0';
const PACKAGE = {
  name: NAME,
  'dist-tags': { latest: VERSION },
  versions: { [VERSION]: { name: NAME, version: VERSION } },
};

let registry: Server | undefined;
let cache: string;

beforeEach(async () => {
  cache = await mkdtemp(path.join(tmpdir(), 'animal-store-npm-'));
});
afterEach(async () => {
  registry?.close();
  await rm(cache, { recursive: true });
});

/** Runs the audit against a registry that returns this response to the query for advisories. */
async function audit(status: number, body: object): Promise<{ code: number; stdout: string }> {
  registry = createServer((request, response) => {
    request.resume();
    const isQuery = request.method === 'POST' && request.url === ADVISORIES_PATH;
    response.writeHead(isQuery ? status : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(isQuery ? body : PACKAGE));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_fetch_retries: '0',
    npm_config_cache: cache,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, ['.ci/audit.js'], { env }, (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), stdout }),
    );
  });
}

describe('.ci/audit.js', () => {
  it('passes when the registry has no advisories, and reports the counts of each package', async () => {
    const { code, stdout } = await audit(200, {});
    expect(stdout.split('\n')).toEqual([
      '.: 0 of severity high or critical, 0 lesser',
      '.ci/nodes: 0 of severity high or critical, 0 lesser',
      'client: 0 of severity high or critical, 0 lesser',
      'client/test/runtimes: 0 of severity high or critical, 0 lesser',
      'bench: 0 of severity high or critical, 0 lesser',
      'test/generators: 0 of severity high or critical, 0 lesser',
      '',
    ]);
    expect(code).toBe(0);
  });

  it.each(['high', 'critical'])('fails when a package has an advisory of severity %s', async (severity) => {
    const { code, stdout } = await audit(200, { [NAME]: [{ ...ADVISORY, severity }] });
    expect(stdout).toMatch(
      new RegExp(
        `^client: 1 of .*\n  ${severity}: openapi-fetch .*Lets everybody in https://example.org/advisories/1$`,
        'm',
      ),
    );
    expect(code).toBe(1);
  });

  it.each(['moderate', 'low'])(
    'passes when the severity is %s, and counts the advisory',
    async (severity) => {
      const { code, stdout } = await audit(200, { [NAME]: [{ ...ADVISORY, severity }] });
      expect(stdout).toContain('client: 0 of severity high or critical, 1 lesser');
      expect(code).toBe(0);
    },
  );

  it.each([405, 500])(
    'reports a failed check with an exit code of its own: the registry returns %s',
    async (status) => {
      const { code, stdout } = await audit(status, {});
      expect(stdout.match(/NOT ASKED: .+/g)).toHaveLength(6);
      expect(code).toBe(75);
    },
  );
});
