import { isDeepStrictEqual } from 'node:util';
import {
  ANNOTATIONS,
  changesOfUnknown,
  compareSchemas,
  type Documents,
  type Json,
  resolve,
  type Sender,
} from './compare-schemas.js';
import type { Fault } from './fault.js';
import { addMonths, type Announcement, findNotice, NOTICE_MONTHS } from './notice.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** A promise may only get stronger. */
const STABILITIES = ['experimental', 'beta', 'stable'];
const SCHEMAS = '#/components/schemas/';
/** The end of the URL of a server whose paths begin after the version. */
const VERSION = /\/v\d+$/;
/** The compared parts of parameters, headers and contents, and texts; all other parts must stay. */
const COMPARED = new Set(['schema', 'required', ...ANNOTATIONS]);
/** A list with more of the operations that use a component is hard to read. */
const MAX_USES = 3;

/** An operation or a webhook, before and after. */
interface Pair {
  documents: Documents;
  before: Json;
  after: Json;
  place: string;
}

/**
 * Returns what a change of an OpenAPI document breaks for clients of the last release.
 *
 * @param announcements of every release, oldest first, with this document.
 * @param today the day, as 2026-12-05.
 */
export function compareDocuments(
  before: Json,
  after: Json,
  announcements: Announcement[],
  today: string,
): Fault[] {
  const documents = { before, after };
  const frozen: Json[] = [];
  const [prefix = '', newPrefix] = [before, after].map(prefixOf);
  const servers =
    prefix === newPrefix
      ? []
      : [
          {
            place: 'servers',
            problem: `Their URLs ended with "${prefix}", and end with "${newPrefix}". Keep it.`,
          },
        ];
  const faults = operationsOf(before, 'paths').flatMap(({ path, method, operation }): UsedFault[] => {
    const find = (document: Json) => findOperation(document, 'paths', path, method);
    const place = `${method.toUpperCase()} ${prefix}${path}`;
    const notice = findNotice(operation, announcements, find, today);
    if (!notice.given) {
      frozen.push(operation);
    }
    const current = find(after);
    const breaking =
      current === undefined
        ? [{ place, problem: 'It is gone.' }]
        : compareOperation({ documents, before: operation, after: current, place });
    const explained = notice.given
      ? []
      : breaking.map((fault) => ({ ...fault, problem: `${fault.problem} ${notice.why}` }));
    return usedBy(place, [
      ...explained,
      ...(current === undefined ? [] : compareIdentifiers(operation, current, place)),
      ...(current === undefined || notice.given ? [] : compareRemovals(operation, current, place, today)),
    ]);
  });
  const webhooks = operationsOf(before, 'webhooks').flatMap(({ path, method, operation }): UsedFault[] => {
    const place = `webhook ${path}`;
    const current = findOperation(after, 'webhooks', path, method);
    frozen.push(operation);
    return current === undefined
      ? [{ place, problem: 'The event is gone. Keep sending it; another may come beside it.' }]
      : usedBy(place, [
          ...compareWebhook({ documents, before: operation, after: current, place }),
          ...compareIdentifiers(operation, current, place),
        ]);
  });
  return merged([...servers, ...faults, ...webhooks, ...compareComponents(documents, frozen)]);
}

/** Returns with what the URLs of all servers end, such as `/v1`. */
function prefixOf(document: Json): string {
  const servers = (document['servers'] ?? []) as { url: string }[];
  const prefixes = servers.map(({ url }) => VERSION.exec(url)?.[0] ?? '');
  return [...new Set(prefixes)].join(' or ');
}

/** Returns the faults that no stability allows. */
function compareIdentifiers(before: Json, after: Json, place: string): Fault[] {
  const [was, is] = [before['operationId'], after['operationId']] as string[];
  return was === is
    ? []
    : [
        {
          place,
          problem: `Its operationId was ${was}, and is ${is}. It stays, as a metric's label and a method.`,
        },
      ];
}

/** Returns a fault if a client has too little time: on its removal day an operation ends by itself. */
function compareRemovals(before: Json, after: Json, place: string, today: string): Fault[] {
  const [removal, current] = [before['x-sunset'], after['x-sunset']] as (string | undefined)[];
  const earliest = addMonths(today, NOTICE_MONTHS[(before['x-stability'] ?? 'stable') as string] ?? 0);
  if (current === undefined || current >= (removal ?? earliest)) {
    return [];
  }
  const problem =
    removal === undefined
      ? `Its removal on ${current} is announced now, and may come on ${earliest} at the earliest.`
      : `Its removal was announced for ${removal}, and is on ${current} now.`;
  return [{ place, problem }];
}

function compareOperation(pair: Pair): Fault[] {
  const { before, after, place } = pair;
  const [was, is] = [before['x-stability'] ?? 'stable', after['x-stability'] ?? 'stable'] as string[];
  const faults: Fault[] = [];
  if (STABILITIES.indexOf(is ?? '') < STABILITIES.indexOf(was ?? '')) {
    faults.push({ place, problem: `Its stability was ${was}, and is ${is}.` });
  }
  return [
    ...faults,
    ...compareSecurity(pair),
    ...compareParameters(pair, 'client'),
    ...compareBody(pair, 'client'),
    ...compareResponses(pair),
  ];
}

/** The service sends a webhook, and its receiver responds. */
function compareWebhook(pair: Pair): Fault[] {
  const [olds, news] = [
    responsesOf(pair.documents.before, pair.before),
    responsesOf(pair.documents.after, pair.after),
  ];
  const gone = Object.keys(olds).filter((status) => news[status] === undefined);
  return [
    ...compareParameters(pair, 'service'),
    ...compareBody(pair, 'service'),
    ...gone.map((status) => ({
      place: `${pair.place} → ${status}`,
      problem: 'The status was a success, and is none now. Accept it.',
    })),
  ];
}

/** A key that was allowed to call an operation must stay so. */
function compareSecurity({ documents, before, after, place }: Pair): Fault[] {
  const read = (document: Json, operation: Json) =>
    (operation['security'] ?? document['security'] ?? []) as Record<string, string[]>[];
  const allowed = (given: Record<string, string[]>, needed: Record<string, string[]>) =>
    Object.entries(needed).every(
      ([scheme, scopes]) =>
        given[scheme] !== undefined && scopes.every((scope) => given[scheme]?.includes(scope)),
    );
  const needed = read(documents.after, after);
  return read(documents.before, before)
    .filter((given) => needed.length > 0 && !needed.some((each) => allowed(given, each)))
    .map((given) => ({
      place,
      problem: `It needed ${JSON.stringify(given)}, and needs ${JSON.stringify(needed)}: keys lose access.`,
    }));
}

function compareParameters({ documents, before, after, place }: Pair, sender: Sender): Fault[] {
  const read = (document: Json, operation: Json) => {
    const parameters = ((operation['parameters'] ?? []) as Json[]).map((each) => resolve(document, each));
    return Object.fromEntries(
      parameters.map((each) => [`${String(each['in'])} ${String(each['name'])}`, each]),
    );
  };
  const [olds, news] = [read(documents.before, before), read(documents.after, after)];
  const added = Object.entries(news)
    .filter(
      ([name, { required }]) => sender === 'client' && required === true && olds[name]?.['required'] !== true,
    )
    .map(([name]) => ({
      place: `${place} → ${name}`,
      problem: 'The parameter is required now. Make it optional, with a default.',
    }));
  return [...added, ...compareNamed(documents, olds, news, sender, place, 'The parameter')];
}

/** Compares headers or parameters, by their names. */
function compareNamed(
  documents: Documents,
  olds: Record<string, Json>,
  news: Record<string, Json>,
  sender: Sender,
  parent: string,
  what: string,
): Fault[] {
  return Object.entries(olds).flatMap(([name, before]): Fault[] => {
    const place = `${parent} → ${name}`;
    const after = news[name];
    if (after === undefined) {
      return [{ place, problem: `${what} is gone. Bring it back.` }];
    }
    const changes = changesOfUnknown(before, after, COMPARED, place);
    if (changes.length > 0) {
      return changes;
    }
    const absent = sender === 'service' && before['required'] === true && after['required'] !== true;
    return [
      ...(absent
        ? [{ place, problem: `${what} was always there, and may be absent now. Always send it.` }]
        : []),
      ...compareSchemas(documents, schemaOf(before), schemaOf(after), sender, place),
    ];
  });
}

function compareBody({ documents, before, after, place }: Pair, sender: Sender): Fault[] {
  const [old, current] = [before['requestBody'], after['requestBody']] as (Json | undefined)[];
  const at = `${place} → body`;
  if (old === undefined) {
    return current?.['required'] === true
      ? [{ place: at, problem: 'It is required now. Make it optional.' }]
      : [];
  }
  if (current === undefined) {
    return [{ place: at, problem: 'It is gone. Accept it.' }];
  }
  const [was, is] = [resolve(documents.before, old), resolve(documents.after, current)];
  const required = sender === 'client' && was['required'] !== true && is['required'] === true;
  return [
    ...(required ? [{ place: at, problem: 'It is required now. Make it optional.' }] : []),
    ...compareContent(documents, was, is, sender, at),
  ];
}

function compareContent(
  documents: Documents,
  before: Json,
  after: Json,
  sender: Sender,
  place: string,
): Fault[] {
  const [olds, news] = [before['content'] ?? {}, after['content'] ?? {}] as Record<string, Json>[];
  return Object.entries(olds ?? {}).flatMap(([type, old]) => {
    const current = news?.[type];
    return current === undefined
      ? [{ place, problem: `The content type ${type} is gone. Bring it back.` }]
      : [
          ...changesOfUnknown(old, current, COMPARED, place),
          ...compareSchemas(documents, schemaOf(old), schemaOf(current), sender, place),
        ];
  });
}

const schemaOf = ({ schema = {} }: Json) => schema as Json;

function compareResponses({ documents, before, after, place: parent }: Pair): Fault[] {
  const [olds, news] = [responsesOf(documents.before, before), responsesOf(documents.after, after)];
  return Object.entries(olds).flatMap(([status, old]): Fault[] => {
    const place = `${parent} → ${status}`;
    const current = news[status];
    return current === undefined
      ? [{ place, problem: 'The status is gone. Bring it back.' }]
      : [
          ...compareNamed(
            documents,
            headersOf(documents.before, old),
            headersOf(documents.after, current),
            'service',
            place,
            'The header',
          ),
          ...compareContent(documents, old, current, 'service', `${place} → body`),
        ];
  });
}

/** Returns what breaks in what operations share: security, and the names that are types of clients. */
function compareComponents({ before, after }: Documents, frozen: Json[]): Fault[] {
  const [olds, news] = [before['components'] ?? {}, after['components'] ?? {}] as Record<string, Json>[];
  const schemes = Object.entries((olds?.['securitySchemes'] ?? {}) as Record<string, Json>)
    .filter(([name, scheme]) => {
      const current = (news?.['securitySchemes']?.[name] ?? {}) as Json;
      return ['type', 'scheme', 'in', 'name'].some((key) => !isDeepStrictEqual(scheme[key], current[key]));
    })
    .map(([name]) => ({
      place: `components → securitySchemes → ${name}`,
      problem: 'It is gone or another one: clients could not authenticate. Bring it back.',
    }));
  const names = [...referencedComponents(before, frozen)]
    .filter((reference) => reference.startsWith(SCHEMAS))
    .map((reference) => reference.slice(SCHEMAS.length))
    .filter((name) => news?.['schemas']?.[name] === undefined);
  const schemas = names.map((name) => ({
    place: `components → schemas → ${name}`,
    problem: 'The name is gone, which is a type of generated clients. Bring it back.',
  }));
  return [...schemes, ...schemas];
}

/** Returns the references to components in these parts of a document, including those within components. */
function referencedComponents(document: Json, parts: unknown, found = new Set<string>()): Set<string> {
  for (const [key, value] of Object.entries((parts ?? {}) as Json)) {
    if (typeof value === 'object') {
      referencedComponents(document, value, found);
    } else if (key === '$ref' && typeof value === 'string' && !found.has(value)) {
      found.add(value);
      referencedComponents(document, resolve(document, { $ref: value }), found);
    }
  }
  return found;
}

function operationsOf(document: Json, kind: 'paths' | 'webhooks') {
  return Object.entries((document[kind] ?? {}) as Record<string, Record<string, Json>>).flatMap(
    ([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        return operation === undefined ? [] : [{ path, method, operation }];
      }),
  );
}

function findOperation(
  document: Json,
  kind: 'paths' | 'webhooks',
  path: string,
  method: string,
): Json | undefined {
  return operationsOf(document, kind).find((each) => each.path === path && each.method === method)?.operation;
}

function responsesOf(document: Json, operation: Json): Record<string, Json> {
  const responses = Object.entries((operation['responses'] ?? {}) as Record<string, Json>);
  return Object.fromEntries(responses.map(([status, response]) => [status, resolve(document, response)]));
}

function headersOf(document: Json, response: Json): Record<string, Json> {
  const headers = Object.entries((response['headers'] ?? {}) as Record<string, Json>);
  return Object.fromEntries(headers.map(([name, header]) => [name, resolve(document, header)]));
}

/** A fault in a component, with an operation that uses it. */
interface UsedFault extends Fault {
  use?: string;
}

/** Returns the faults with the operation in which they are, unless their place begins with it. */
function usedBy(use: string, faults: Fault[]): UsedFault[] {
  return faults.map((fault) => (fault.place.startsWith(use) ? fault : { ...fault, use }));
}

/** Returns each fault once: many operations share a component. */
function merged(faults: UsedFault[]): Fault[] {
  const uses = new Map<string, { fault: Fault; users: Set<string> }>();
  for (const { use, ...fault } of faults) {
    const key = JSON.stringify(fault);
    const entry = uses.get(key) ?? { fault, users: new Set() };
    uses.set(key, entry);
    if (use !== undefined) {
      entry.users.add(use);
    }
  }
  return [...uses.values()].map(({ fault: { place, problem }, users }) => {
    const named = [...users].slice(0, MAX_USES).join(', ');
    const others = users.size > MAX_USES ? ` and ${users.size - MAX_USES} more` : '';
    return { place: users.size === 0 ? place : `${place}, of ${named}${others}`, problem };
  });
}
