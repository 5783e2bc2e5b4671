import { SCOPES } from '../../src/auth/rules/scope.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { eventually } from '../support/eventually.js';
import { changingNothing } from '../support/database/stored-state.js';
import {
  ApiDocument,
  type Operation,
  type Parameter,
  REQUIRED_QUERY,
  type Schema,
} from '../support/http/document.js';
import { expectInvalid, expectRateLimitHeaders } from '../support/http/expectations.js';

import { useAdministration } from '../support/keys/administration.js';

/**
 * Wrong values of a parameter as they stand in a query, or of a field in JSON, and a pattern of the fault
 * that the response names.
 */
type Wrong = [fault: string, values: string[]];

const ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
/** A position of each kind that cursors have. */
const POSITIONS = ['7', 'free', ID];
/** The parameters that a query may not have beside those it has at least. */
const EXCLUDED: Record<string, string[]> = { getWhatIf: ['perMinute', 'perDay'] };
/** The faults of fields of which one is required. */
const ONE_OF: Record<string, string[]> = { issueKey: ['plan is required without quotaId'] };
const RANGES = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const;
const [LEAST, GREATEST] = RANGES.int64;
/** The fault of the only list of a query, that of identifiers. */
const INT64S =
  'must be given at most 100 times, each time as an integer from ' +
  `${LEAST} to ${GREATEST}, written as digits`;
const INSTANT =
  'must be (a date such as 2027-01-31, or )?a date-time with its offset, such as 2027-01-01T00:00:00Z';
const NO_INSTANTS = [
  '',
  'tomorrow',
  // Where a date is accepted, it is one of the calendar.
  '2999-02-29',
  '2999-1-1',
  '2999-01-01Z',
  '0000-01-01',
  '10000-01-01',
  '2999-01-01T00:00:00',
  '2999-01-01 00:00:00Z',
  '2999-02-29T00:00:00Z',
  '2999-13-01T00:00:00Z',
  '2999-01-01T24:00:00Z',
  '2999-01-01T00:00:00+0100',
  '+010000-01-01T00:00:00Z',
  // There is no year 0 and no year 10000, to which an offset may lead.
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-00:01',
];

const api = new ApiDocument();
const admin = useAdministration();

const withNames = (operations: Operation[]) =>
  operations.map((operation): [string, Operation] => [`${operation.method} ${operation.path}`, operation]);
let webhookId: string;
beforeAll(async () => {
  const input = { url: 'https://webhooks.invalid/', events: ['key.revoked'] };
  ({ id: webhookId } = (await admin.send('POST /admin/webhooks', input)).json);
  await admin.send(`PATCH /admin/keys/${admin.administrator.id}`, { scopes: SCOPES });
  await eventually(async () => expect((await admin.send('GET /v1/keys')).status).toBe(200));
});

/**
 * A request about the administrator's own key, plan Pro, a webhook, or the first record, if it is about one.
 */
const fillPath = (name: string) =>
  name
    .replace('{quotaId}', admin.administrator.quotaId)
    .replace('{plan}', 'pro')
    .replace('{webhookId}', webhookId)
    .replace('{keyId}', admin.administrator.id)
    .replaceAll(/\{\w+\}/g, '1');

function wrongChoice(choices: unknown[]): Wrong {
  const [first, second] = choices.map(String);
  const wrong = ['', 'lost', String(first).toUpperCase(), `${first} `, `${first},${second}`, `${first}\0`];
  return [`must be one of ${choices.join(', ')}`, [...wrong, 'null', 'toString']];
}

/** Returns the position that a cursor of a list may have, by what identifies its entries; null for others. */
function findPosition({ properties: { id, name } = {} }: Schema): string | null {
  if (id === undefined) {
    return name === undefined ? null : 'free';
  }
  return id.format === 'uuid' ? ID : '7';
}

function wrongCursors(entry: Schema): Wrong {
  const ofOtherLists = POSITIONS.filter((position) => position !== findPosition(entry));
  const forged = ['', '\0', 'free\0', 'x|y', '9223372036854775808', '0000-01-01T00:00:00Z', "1' OR '1'='1"];
  return [
    'was not issued by this service: follow the Link header of the previous page',
    ['', 'x', '1', 'MQ', '%00', '%zz', 'x'.repeat(2000), ...[...ofOtherLists, ...forged].map(encodeCursor)],
  ];
}

function findRange({ format, minimum, maximum }: Schema): [least: bigint, greatest: bigint] {
  const [least, greatest] = RANGES[format === 'int64' ? 'int64' : 'int32'];
  return [BigInt(minimum ?? least), BigInt(maximum ?? greatest)];
}

const countsByFault = new Map<string, number>();

/**
 * Returns all wrong values for the first parameter with this fault, and every fourth for each other, another
 * one each time: one rule reads all of them.
 */
function inTurn([fault, values]: Wrong): Wrong {
  const count = countsByFault.get(fault) ?? 0;
  countsByFault.set(fault, count + 1);
  return [fault, count === 0 ? values : values.filter((_value, index) => index % 4 === count % 4)];
}

function wrongParameters(entry: Schema, name: string, schema: Schema): Wrong[] {
  const { type, format, enum: choices, maxLength = 0 } = schema;
  if (name === 'cursor') {
    return [wrongCursors(entry)];
  }
  if (name === 'plan') {
    return [['must be the name of a plan', ['', '%00', 'Free', "'%20OR%201=1", 'x'.repeat(64)]]];
  }
  if (choices !== undefined) {
    const [fault, wrong] = wrongChoice(choices);
    return [[fault, wrong.map(encodeURIComponent)]];
  }
  if (type === 'boolean') {
    return [['must be true or false', ['', '1', 'TRUE', '%00']]];
  }
  if (type === 'array') {
    const tooMany = Array.from({ length: 101 }, (_, index) => index).join(`&${name}=`);
    return [[INT64S, ['', '1.0', '7,9', '7%2C9', '[7]', '%00', `${GREATEST + 1n}`, `7&${name}=x`, tooMany]]];
  }
  if (type === 'integer') {
    const [least, greatest] = findRange(schema);
    const beyond = [least - 1n, least - 2n, greatest + 1n].map(String);
    const wrong = '1%20 1.0 1e1 %2B5 0x5 ten %zz %D9%A5 99999999999999999999'.split(' ');
    const fault = `must be an integer from ${least} to ${greatest}`;
    return [inTurn([fault, ['', ...beyond, ...wrong, ...(least > 0n ? ['05'] : [])]])];
  }
  if (format === 'date-time') {
    return [inTurn([INSTANT, [...NO_INSTANTS.map(encodeURIComponent), '%00']])];
  }
  if (format === 'uuid') {
    return [['must be (a UUID|the id of a (key|quota))', ['', 'x', ID.slice(1), `${ID}%00`, `key:${ID}`]]];
  }
  return [
    [`must have 1 to ${maxLength} characters`, ['', 'x'.repeat(maxLength + 1)]],
    ['must be text without control characters', ['%00', 'a%1Bb', '%C2%9B', '%E2%80%AE']],
  ];
}

/** Returns the fault of a parameter that is x, twice. */
const findRepeatedFault = ({ type }: Schema) => (type === 'array' ? INT64S : 'must be given once');

function validParameter({ name, schema }: Parameter): string {
  const { type, format, enum: choices, minimum = 1 } = schema;
  if (choices !== undefined) {
    return String(choices[0]);
  }
  if (format === 'date-time') {
    return name === 'until' ? '2028-01-01T00:00:00.000Z' : '2027-01-01T00:00:00.000Z';
  }
  const texts = { integer: String(minimum), array: '1', boolean: 'true' };
  return texts[type as keyof typeof texts] ?? (format === 'uuid' ? ID : 'x');
}

function wrongFields(field: Schema): Wrong {
  const { type, format, enum: choices, minLength, maxLength = 0, minItems = 0, maxItems = 0 } = field;
  const json = (values: unknown[]) => values.map((value) => JSON.stringify(value));
  if (choices !== undefined) {
    const [fault, wrong] = wrongChoice(choices);
    return [fault, json([...wrong, null, 1, choices.slice(0, 1)])];
  }
  if (type === 'integer') {
    const [least, greatest] = findRange(field);
    const beyond = [least - 1n, greatest + 1n, '9'.repeat(1000)].map(String);
    const wrong = [
      '1.5',
      '5.0',
      '1e3',
      '7.5E1',
      '"5"',
      'null',
      'true',
      '[5]',
      '{"value":"5","isLosslessNumber":true}',
    ];
    const fault = `must be an integer from ${least} to ${greatest}, without quotes, fraction or exponent`;
    return [fault, [...beyond, ...wrong]];
  }
  if (type === 'array') {
    const tooMany = Array<string>(maxItems + 1).fill('x');
    const wrong = [null, 7, 'x', { length: 3 }, [null], ['x'], [['x']], tooMany];
    return ['must [^;]+', json(minItems > 0 ? [...wrong, []] : wrong)];
  }
  if (format === 'date-time') {
    return [INSTANT, json([...NO_INSTANTS, null, 32_503_680_000])];
  }
  if (type === 'boolean') {
    return ['must be true or false', json([null, 1, 'true', [true]])];
  }
  const blankOrLong = ['', ' \u00a0\u3000', 'x'.repeat(maxLength + 1), '🐕'.repeat(maxLength + 1)];
  const noText = ['\0', 'a\0b', '\ud800', 'a\udc00b', '\udc15\ud83d'];
  return [
    'must [^;]+',
    json([null, 7, true, ['x'], { length: 3 }, ...(minLength === 1 ? [...blankOrLong, ...noText] : [])]),
  ];
}

const lists = api.operations.filter(({ parameters }) =>
  parameters.some((parameter) => parameter.in === 'query'),
);

describe.each(withNames(lists))('%s', (name, { operationId, parameters, responses }) => {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const entry = responses['200']?.content?.['application/json']?.schema.items ?? {};
  const get = (given: string) => admin.send(`${fillPath(name)}?${given}`);

  it.each(query.map((parameter) => [parameter.name, parameter.schema] as const))(
    'returns 400 that names its fault, and no Link, for an invalid or repeated %s',
    async (parameter, schema) => {
      const wrong = wrongParameters(entry, parameter, schema);
      const cases = wrong.flatMap(([fault, values]) =>
        values.map((value) => [`${parameter}=${value}`, fault]),
      );
      for (const [given = '', fault] of [
        ...cases,
        [`${parameter}=x&${parameter}=x`, findRepeatedFault(schema)],
        [`${parameter}=&${parameter}=`, findRepeatedFault(schema)],
      ]) {
        const response = await get(given);
        expectInvalid(response, new RegExp(`^${parameter} ${fault}$`));
        expect([given, response.headers.get('link')]).toEqual([given, null]);
      }
    },
  );

  it('returns 400 that names all faults at once', async () => {
    const given = query.map((parameter) => `${parameter.name}=x&${parameter.name}=x`);
    const faults = query.map((parameter) => `${parameter.name} ${findRepeatedFault(parameter.schema)}`);
    expectInvalid(await get(given.join('&')), faults.join('; '));
  });

  it('returns 200, with all parameters in its links, if they are valid', async () => {
    const isPaged = query.some((parameter) => parameter.name === 'cursor');
    const left = new Set(['cursor', ...(EXCLUDED[operationId] ?? [])]);
    const others = query.filter((parameter) => !left.has(parameter.name));
    const values = Object.fromEntries(others.map((each) => [each.name, validParameter(each)]));
    const required = Object.fromEntries(new URLSearchParams(REQUIRED_QUERY[operationId]));
    const given = new URLSearchParams({ ...values, ...required }).toString();
    const { status, headers } = await get(given);
    const first = `<${fillPath(name).slice('GET '.length)}?${given}>; rel="first"`;
    expect([status, headers.get('link')?.split(', ').at(-1)]).toEqual([200, isPaged ? first : undefined]);
  });

  it('ignores unknown parameters, repeated ones and names of fields too', async () => {
    const names = new Set(query.map((parameter) => parameter.name));
    const fields = Object.keys(entry.properties ?? {}).filter((field) => !names.has(field));
    const unknown = [
      'color=brown&color=%zz&__proto__=1&constructor=2&toString=3&limit[]=0&Limit=0&&&=',
      ...fields.map((field) => `${field}=2`),
    ].join('&');
    const required = REQUIRED_QUERY[operationId] ?? '';
    const { status, headers } = await get(`${unknown}&${required}`);
    expect([status, headers.get('link')]).toEqual([200, (await get(required)).headers.get('link')]);
  });
});

describe.each(withNames(api.operations.filter(({ body }) => body !== null)))(
  '%s',
  (name, { body, operationId }) => {
    const { properties = {}, required = [], examples = [] } = body ?? {};
    const unchanged = (work: () => Promise<void>) => changingNothing(admin.store.database, work);
    const attempt = (json: string) => admin.send(fillPath(name), json);
    /** The example in the document, with another value of a field. */
    const withField = (field: string, json: string) => {
      const others = Object.entries(examples[0] as object).filter(([each]) => each !== field);
      const members = others.map(([each, value]) => `"${each}":${JSON.stringify(value)}`);
      return `{${[...members, `"${field}":${json}`].join(',')}}`;
    };

    it.each(Object.entries(properties))(
      'returns 400 that names its fault, and changes nothing, for an invalid %s',
      (field, schema) =>
        unchanged(async () => {
          const [list = schema, orNull] = schema.anyOf ?? [];
          const [fault, values] = wrongFields(list);
          for (const json of values.filter((each) => orNull === undefined || each !== 'null')) {
            const response = await attempt(withField(field, json));
            expectInvalid(
              response,
              new RegExp(`^${field}(\\[0\\])? ${fault}(; per\\w+ is required with per\\w+)?$`),
            );
            expectRateLimitHeaders(response);
            expect(response.headers.get('location')).toBeNull();
          }
        }),
    );

    it('returns 400 that names every missing required and every invalid field, and changes nothing', () =>
      unchanged(async () => {
        const invalid = Object.keys(properties).map((field) => `"${field}":{}`);
        const faults = Object.keys(properties).map((field) => `${field} must [^;]+`);
        expectInvalid(await attempt(`{${invalid.join(',')}}`), new RegExp(`^${faults.join('; ')}$`));
        if (required.length > 0) {
          const missing = required.map((field) => `${field} is required`);
          expectInvalid(await attempt('{}'), [...missing, ...(ONE_OF[operationId] ?? [])].join('; '));
        }
      }));

    it('returns 400, and changes nothing, for a body that is no JSON object', () =>
      unchanged(async () => {
        const none = required.length > 0 ? [''] : [];
        for (const json of ['[]', '[{}]', '"x"', 'null', 'true', '7', '7.5', ...none]) {
          expectInvalid(await attempt(json), 'the body must be a JSON object');
        }
      }));
  },
);
