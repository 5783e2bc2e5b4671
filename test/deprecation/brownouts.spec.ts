import { Controller, Get, type Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { ApiTags } from '@nestjs/swagger';
import { AppModule } from '../../src/app.module.js';
import { openServices } from '../../src/cli/services.js';
import { UsageService } from '../../src/admin/usage/usage.service.js';
import { Deprecated } from '../../src/deprecation/deprecated.decorator.js';
import { Operation } from '../../src/deprecation/operation.decorator.js';
import type { Brownout } from '../../src/deprecation/rules/brownout.js';
import { Responses } from '../../src/openapi/responses.decorator.js';
import { OperationUsage } from '../../src/usage/usage.schemas.js';
import { Clock } from '../../src/settings/clock.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { expectError } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { recordUsage } from '../support/keys/usage.js';
import { startApplication, useApplication } from '../support/service/application.js';

const FROM = new Date('2027-03-05T10:00:00Z');
const UNTIL = new Date('2027-03-05T12:00:00Z');
const BROWNOUTS = [
  { from: FROM, until: UNTIL },
  { from: new Date('2027-03-20T00:00:00Z'), until: new Date('2027-03-21T00:00:00Z') },
];
const MESSAGE =
  'This operation is gone until 2027-03-05T12:00:00.000Z, in a brownout before its removal on 2027-04-01. Use GET /v1/pets instead.';

/** Returns a controller with one deprecated operation, `GET /v1/dogs`, which has these brownouts. */
function dogsController(brownouts: Brownout[]): Type {
  @ApiTags('pets')
  @Controller('v1/dogs')
  class DogsController {
    @Get()
    @Operation('stable', 'pets:read', 'List dogs', 'Returns all dogs.')
    @Deprecated({
      since: new Date('2026-03-01T00:00:00Z'),
      removal: new Date('2027-04-01T00:00:00Z'),
      brownouts,
      replacement: '/v1/pets',
      docs: '/docs#/pets/listDogs',
    })
    @Responses({ status: 200, schema: OperationUsage.array().max(0), description: 'No dogs.' })
    listDogs(): [] {
      return [];
    }
  }
  return DogsController;
}

/** Adds a controller to every application that starts later. */
function declare(controller: Type): void {
  Reflect.defineMetadata(MODULE_METADATA.CONTROLLERS, [controller], AppModule);
}

const store = useApplication(() => {
  declare(dogsController(BROWNOUTS));
  return {};
});

const at = (time: string) => store.clock.travelTo(new Date(time));
const request = (init: Parameters<typeof send>[1] = {}) => send(`${store.url}/v1/dogs`, init);

function expectDeprecation({ headers }: HttpResponse): void {
  expect(headers.get('deprecation')).toBe('@1772323200');
  expect(headers.get('sunset')).toBe('Thu, 01 Apr 2027 00:00:00 GMT');
  expect(headers.get('link')).toContain('</v1/pets>; rel="successor-version"');
}

describe('an operation with brownouts', () => {
  it('returns 410 with the end in a brownout, and 200 before and after it', async () => {
    const { key } = await store.issue(UNLIMITED);
    for (const [time, status, retryAfter] of [
      ['2027-03-05T09:59:30.000Z', 200, /^null$/],
      ['2027-03-05T10:00:00.000Z', 410, /^(7200|719\d)$/],
      ['2027-03-05T11:59:30.000Z', 410, /^([1-9]|[12]\d|30)$/],
      ['2027-03-05T12:00:00.000Z', 200, /^null$/],
      ['2027-03-20T12:00:00.000Z', 410, /^43\d\d\d$/],
      ['2027-03-21T00:00:00.000Z', 200, /^null$/],
    ] as const) {
      at(time);
      const response = await request({ key });
      expect([time, response.status]).toEqual([time, status]);
      expectDeprecation(response);
      expect(String(response.headers.get('retry-after'))).toMatch(retryAfter);
    }
  });

  it('names the end of the brownout, the removal and the successor, and is not stored by caches', async () => {
    const { key } = await store.issue(UNLIMITED);
    at('2027-03-05T10:30:00Z');
    const response = await request({ key });
    expectError(response, 410, 'endpoint_removed', MESSAGE);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const head = await request({ key, method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('retry-after')]).toEqual([
      410,
      '',
      expect.stringMatching(/^5[34]\d\d$/),
    ]);
    expectDeprecation(head);
  });

  it('still authenticates and counts first', async () => {
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    at('2027-03-05T10:30:00Z');
    expectError(await request(), 401, 'missing_api_key');
    expectError(await request({ key }), 410, 'endpoint_removed');
    expectError(await request({ key }), 410, 'endpoint_removed');
    expectError(await request({ key }), 429, 'rate_limit_exceeded');
  });

  it('returns 410 without Retry-After from the removal on', async () => {
    const { key } = await store.issue(UNLIMITED);
    at('2027-04-01T00:00:00Z');
    const response = await request({ key });
    expectError(
      response,
      410,
      'endpoint_removed',
      'This operation was removed on 2027-04-01. Use GET /v1/pets instead.',
    );
    expect(response.headers.get('retry-after')).toBeNull();
  });

  it('has them in the OpenAPI document', async () => {
    const { json } = await send(`${store.url}/openapi.json`);
    const { description, responses, ...operation } = json.paths['/dogs'].get;
    expect(operation).toMatchObject({
      deprecated: true,
      'x-sunset': '2027-04-01',
      'x-brownouts': [
        { from: '2027-03-05T10:00:00.000Z', until: '2027-03-05T12:00:00.000Z' },
        { from: '2027-03-20T00:00:00.000Z', until: '2027-03-21T00:00:00.000Z' },
      ],
    });
    expect(description).toContain(
      '**Brownouts.** It already returns 410 from 2027-03-05T10:00:00.000Z until 2027-03-05T12:00:00.000Z, and from 2027-03-20T00:00:00.000Z until 2027-03-21T00:00:00.000Z.',
    );
    expect(responses['410']).toEqual({ $ref: '#/components/responses/DeprecatedRemoved' });
    const { headers } = json.components.responses.DeprecatedRemoved;
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['Retry-After', 'Deprecation', 'Sunset']));
    expect(json.components.headers.BrownoutEnd).toMatchObject({ required: false });
    expect(json.paths['/pets/{petId}'].get).not.toHaveProperty('x-brownouts');
  });
});

describe('an operation with an empty list of brownouts', () => {
  it('has none in the OpenAPI document', async () => {
    declare(dogsController([]));
    const other = await startApplication({ database: store.database });
    const { json } = await send(`${other.url}/openapi.json`);
    await other.close();
    const { description, ...operation } = json.paths['/dogs'].get;
    expect(description).not.toContain('Brownouts');
    expect(operation).not.toHaveProperty('x-brownouts');
  });
});

describe('GET /admin/deprecations and GET /v1/deprecations', () => {
  it('count the calls of each key and quota within the last brownout, for 35 days', async () => {
    const admin = await store.issue({ ...UNLIMITED, role: 'admin' });
    const ann = await store.issue(UNLIMITED);
    const bob = await store.issue(UNLIMITED);
    const call = (key: string, path: string) => send(`${store.url}${path}`, { key });
    /** Returns the last brownout of Ann and Bob, by what administrators see, and by what Ann does. */
    const reported = async () => {
      const { json } = await call(admin.key, '/admin/deprecations?limit=100');
      const ofKey = ({ id }: { id: string }) =>
        json.find(
          (each: { keyId: string; operation: string }) => each.keyId === id && each.operation === 'listDogs',
        )?.lastBrownout;
      const own = await call(ann.key, '/v1/deprecations');
      return [ofKey(ann), ofKey(bob), own.json[0].lastBrownout];
    };
    const first = (requests: number) => ({ from: FROM.toISOString(), until: UNTIL.toISOString(), requests });

    at('2027-03-05T09:59:00Z');
    await Promise.all([call(ann.key, '/v1/dogs'), call(bob.key, '/v1/dogs')]);
    await recordUsage(store);
    expect(await reported()).toEqual([null, null, null]);

    at('2027-03-05T10:00:00Z');
    await Promise.all([call(ann.key, '/v1/dogs'), call(ann.key, '/v1/dogs'), call(ann.key, '/v1/pets')]);
    await recordUsage(store);
    expect(await reported()).toEqual([first(2), first(0), first(2)]);

    at('2027-03-05T11:59:00Z');
    await call(ann.key, '/v1/dogs');
    at('2027-03-05T12:00:00Z');
    await Promise.all([call(ann.key, '/v1/dogs'), call(bob.key, '/v1/dogs')]);
    await recordUsage(store);
    expect(await reported()).toEqual([first(3), first(0), first(3)]);

    at('2027-03-20T01:00:00Z');
    const second = { from: '2027-03-20T00:00:00.000Z', until: '2027-03-21T00:00:00.000Z', requests: 0 };
    expect(await reported()).toEqual([second, second, second]);
    at('2027-04-23T23:59:00Z');
    expect(await reported()).toEqual([second, second, second]);
    at('2027-04-24T00:00:01Z');
    expect(await reported()).toEqual([null, null, null]);
  });

  it('add the calls of all keys of a quota', async () => {
    const old = await store.issue(UNLIMITED);
    at('2027-03-05T10:10:00Z');
    const admin = await store.issue({ ...UNLIMITED, role: 'admin' });
    const rotated = await send(`${store.url}/admin/keys/${old.id}/rotate`, {
      method: 'POST',
      key: admin.key,
      body: {},
    });
    await request({ key: old.key });
    await request({ key: rotated.json.key });
    await recordUsage(store);
    const { json } = await send(`${store.url}/v1/deprecations`, { key: old.key });
    expect(json).toMatchObject([{ operation: 'listDogs', requests: 2, lastBrownout: { requests: 2 } }]);
  });
});

describe('the terminal', () => {
  it('has the brownouts that routes declare', async () => {
    at('2027-03-05T10:20:00Z');
    const { key, id } = await store.issue(UNLIMITED);
    await request({ key });
    await recordUsage(store);
    const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: store.database.url });
    const services = await openServices(environment);
    jest.spyOn(services.get(Clock), 'now').mockReturnValue(store.clock.now());
    const { entries } = await services.get(UsageService).deprecatedCalls(100);
    expect(entries.find(({ keyId }) => keyId === id)).toMatchObject({ lastBrownout: { requests: 1 } });
    await services.close();
  });
});

describe('a declaration', () => {
  it.each([
    [
      'overlap',
      [BROWNOUTS[0]!, { from: new Date('2027-03-05T11:00:00Z'), until: new Date('2027-03-05T13:00:00Z') }],
    ],
    ['reach past the removal', [{ from: FROM, until: new Date('2027-04-01T01:00:00Z') }]],
  ])('fails before the service starts if its brownouts %s', (_name, brownouts) => {
    expect(() => dogsController(brownouts)).toThrow(
      'The brownouts until 2027-04-01 are not in order, or not from full hour to full hour.',
    );
  });
});
