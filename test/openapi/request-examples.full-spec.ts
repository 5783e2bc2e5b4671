import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { send } from '../support/http/http.js';
import { ServiceProcess } from '../support/service/service-process.js';

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

/** Each operation with a body: its name, method, path on the server, and example. */
const bodies = [
  { file: 'openapi.json', prefix: '/v1' },
  { file: 'admin-openapi.json', prefix: '' },
].flatMap(({ file, prefix }) => {
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8'));
  const exampleOf = ({ $ref }: Json) => components.schemas[$ref.split('/').at(-1)].examples?.[0];
  return Object.entries<Json>(paths).flatMap(([relative, item]) =>
    Object.entries<Json>(item)
      .filter(([, { requestBody }]) => requestBody !== undefined)
      .map(([method, { operationId, requestBody }]): [string, string, string, Json] => [
        operationId,
        method.toUpperCase(),
        `${prefix}${relative}`,
        exampleOf(requestBody.content['application/json'].schema),
      ]),
  );
});

describe('the example of a request body', () => {
  let folder: string;
  let service: ServiceProcess;
  let url: string;
  let admin: string;

  const issueKey = async (): Promise<string> => {
    const body = { name: 'test', plan: 'free' };
    return (await send(`${url}/admin/keys`, { method: 'POST', key: admin, body })).json.id;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'animal-store-examples-'));
    const dataDir = path.join(folder, 'data');
    service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    url = await service.ready();
    ({ admin } = JSON.parse(await readFile(path.join(dataDir, 'demo-keys.json'), 'utf8')));
  });
  afterAll(async () => {
    await service.kill('SIGTERM');
    await rm(folder, { recursive: true });
  });

  it('exists for each operation with a body', () => {
    expect(bodies.map(([operationId]) => operationId)).toEqual([
      'createPet',
      'createOrder',
      'issueKey',
      'changePlan',
      'labelKey',
      'rotateKey',
      'setPlan',
    ]);
  });

  it.each(bodies)('succeeds on the demonstration: %s', async (_operationId, method, route, example) => {
    const target = route.replace('{id}', await issueKey()).replace('{plan}', 'free');
    expect(example).toBeDefined();
    const { status, json } = await send(`${url}${target}`, { method, key: admin, body: example });
    expect([200, 201].includes(status) ? [] : [status, json]).toEqual([]);
  });
});
