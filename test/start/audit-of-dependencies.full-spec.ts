import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
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

/** Runs the audit against a registry that returns this response to the query for advisories. */
async function audit(status: number, body: object): Promise<{ code: number; stdout: string }> {
  const cache = await mkdtemp(path.join(tmpdir(), 'animal-store-npm-'));
  const registry = createServer((request, response) => {
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
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, ['.ci/audit.js'], { env }, (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), stdout }),
      );
    });
  } finally {
    registry.close();
    await rm(cache, { recursive: true });
  }
}

describe('.ci/audit.js', () => {
  const advisory = (severity: string) => ({ [NAME]: [{ ...ADVISORY, severity }] });

  it.each<[string, number, number, object, RegExp]>([
    [
      'the registry has no advisories',
      0,
      200,
      {},
      /^\.: 0 of severity high or critical, 0 lesser\n(\S+: 0 of severity high or critical, 0 lesser\n){5}$/,
    ],
    [
      'a package has an advisory of severity high or critical',
      1,
      200,
      advisory('high'),
      /^client: 1 of .*\n {2}high: openapi-fetch .*Lets everybody in https:\/\/example.org\/advisories\/1$/m,
    ],
    [
      'the severity of the advisory is lower',
      0,
      200,
      advisory('moderate'),
      /^client: 0 of severity high or critical, 1 lesser$/m,
    ],
    ['the check itself fails', 75, 500, {}, /^(.*NOT ASKED: .+\s*){6}/],
  ])('reports its result if %s, and exits with %i', async (_case, code, status, body, output) => {
    expect(await audit(status, body)).toEqual({ code, stdout: expect.stringMatching(output) });
  });
});
