import { isDeepStrictEqual } from 'node:util';
import type { Fault } from './fault.js';

/** A JSON Schema, or another object of a document. */
export type Json = Record<string, unknown>;

/** A document before and after a change; references are resolved in each. */
export interface Documents {
  before: Json;
  after: Json;
}

/** Who sends what a schema describes: a client its request, or the service its response or event. */
export type Sender = 'client' | 'service';

/** Upper bounds, and those that are lower. */
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
/** What a request must match entirely, or not at all. */
const EXACT = ['pattern', 'multipleOf', 'uniqueItems'];
/** Texts for readers. */
export const ANNOTATIONS = ['description', 'title', 'example', 'examples', 'deprecated', '$comment'];
/** The schema of a list's items or a map's values without a schema. */
const ANYTHING: Json = {};
const COMPARED = new Set([
  'type',
  'format',
  'enum',
  'const',
  'default',
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
  'additionalProperties',
  ...UPPER,
  ...LOWER,
  ...EXACT,
  ...ANNOTATIONS,
]);

/**
 * Returns what a change of a schema breaks for clients of the released one. A client may still send what it
 * sent, and receives what it knows; fields and values that it does not know may come where the documents say
 * so.
 *
 * @param place where the schema is used. A fault in a component has its place in that instead.
 */
export function compareSchemas(
  documents: Documents,
  before: Json,
  after: Json,
  sender: Sender,
  place: string,
  seen: ReadonlySet<string> = new Set(),
): Fault[] {
  const pair = `${String(before['$ref'])} ${String(after['$ref'])}`;
  if (seen.has(pair) || (before === ANYTHING && after === ANYTHING)) {
    return [];
  }
  const isNamed = before['$ref'] !== undefined || after['$ref'] !== undefined;
  const within = isNamed ? new Set([...seen, pair]) : seen;
  const name = componentName(before) ?? place;
  const [olds, news] = [alternatives(documents.before, before), alternatives(documents.after, after)];
  // The receiver must know everything that the sender may send.
  const [sent, known] = sender === 'client' ? [olds, news] : [news, olds];
  const faults = sent.flatMap((each) => {
    const sameType = known.filter((other) => isType(each['type'], other['type']));
    const attempts = (sameType.length > 0 ? sameType : known).map((other) => {
      const [own, its] = sender === 'client' ? [each, other] : [other, each];
      return compareAlternatives(documents, own, its, sender, name, within);
    });
    return attempts.toSorted((one, other) => one.length - other.length)[0] ?? [];
  });
  return [...faults, ...goneValues(olds, news, sender, name), ...changedDefault(olds, news, sender, name)];
}

/** Returns an object of a document itself for a reference to it. */
export function resolve(document: Json, object: Json): Json {
  const { $ref, ...own } = object;
  if (typeof $ref !== 'string') {
    return object;
  }
  const target = $ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>(
      (parent, key) => (parent as Json)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );
  return { ...resolve(document, target as Json), ...own };
}

function componentName({ $ref }: Json): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** Returns schemas of one type each; a value must match one of them. */
function alternatives(document: Json, schema: Json): Json[] {
  const { anyOf, oneOf, ...own } = resolve(document, schema);
  const choices = (anyOf ?? oneOf) as Json[] | undefined;
  if (choices !== undefined) {
    return choices.flatMap((each) => alternatives(document, { ...own, ...resolve(document, each) }));
  }
  return Array.isArray(own['type']) ? own['type'].map((type: string) => ({ ...own, type })) : [own];
}

/** Returns what breaks if a value was described by one schema of one type, and now is by another. */
function compareAlternatives(
  documents: Documents,
  before: Json,
  after: Json,
  sender: Sender,
  place: string,
  seen: ReadonlySet<string>,
): Fault[] {
  const [sent, known] = sender === 'client' ? [before, after] : [after, before];
  const fault = (problem: string): Fault => ({ place, problem });
  if (!isType(sent['type'], known['type'])) {
    return [fault(`Its type was ${text(before['type'])}, and is ${text(after['type'])}. Add another field.`)];
  }
  const faults: Fault[] = [];
  if (!isFormat(sent['format'], known['format'])) {
    faults.push(
      fault(
        `Its format was ${text(before['format'])}, and is ${text(after['format'])}. Keep the released one.`,
      ),
    );
  }
  const values = valuesOf(known);
  if (values !== undefined && valuesOf(sent) === undefined) {
    faults.push(
      sender === 'client'
        ? fault('It accepted any value, and accepts a few now. Accept what was accepted.')
        : fault('It was one of a few values, and may be any now. Send those that clients know.'),
    );
  } else if (sender === 'service') {
    const unknown = valuesOf(sent)?.filter((value) => values?.includes(value) === false) ?? [];
    faults.push(
      ...unknown.map((value) =>
        fault(`It may be ${text(value)}, which no client knows. Only an open enumeration gets values.`),
      ),
    );
  }
  if (sender === 'client' && valuesOf(before) === undefined) {
    faults.push(...tightened(before, after).map(fault));
  }
  faults.push(...changesOfUnknown(before, after, COMPARED, place));
  return [...faults, ...compareParts(documents, before, after, sender, place, seen)];
}

/** Returns a fault for each key that differs, but the known ones and extensions. */
export function changesOfUnknown(
  before: Json,
  after: Json,
  known: ReadonlySet<string>,
  place: string,
): Fault[] {
  return Object.keys({ ...before, ...after })
    .filter((key) => !known.has(key) && !key.startsWith('x-') && !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({
      place,
      problem: `Its "${key}" changed, which this check does not understand. Keep it.`,
    }));
}

/** Returns what breaks in the fields of an object and the items of a list. */
function compareParts(
  documents: Documents,
  before: Json,
  after: Json,
  sender: Sender,
  place: string,
  seen: ReadonlySet<string>,
): Fault[] {
  const faults: Fault[] = [];
  const [olds, news] = [fieldsOf(before), fieldsOf(after)];
  for (const [name, schema] of Object.entries(olds)) {
    const field = `${place}.${name}`;
    const current = news[name];
    if (current === undefined) {
      faults.push({
        place: field,
        problem: 'The field is gone. Bring it back; a new one may stand beside it.',
      });
    } else {
      faults.push(...compareSchemas(documents, schema, current, sender, field, seen));
    }
  }
  const [needed, given] = [requiredOf(before), requiredOf(after)];
  const problems =
    sender === 'client'
      ? given.filter((name) => !needed.includes(name)).map((name) => [name, 'is required now'])
      : needed
          .filter((name) => !given.includes(name) && news[name] !== undefined)
          .map((name) => [name, 'was always there, and may be absent now']);
  const advice = sender === 'client' ? 'Make it optional, with a default.' : 'Always send it.';
  faults.push(
    ...problems.map(([name, is]) => ({ place: `${place}.${name}`, problem: `It ${is}. ${advice}` })),
  );
  const [oldItems = ANYTHING, newItems = ANYTHING] = [before['items'], after['items']] as (
    Json | undefined
  )[];
  faults.push(...compareSchemas(documents, oldItems, newItems, sender, `${place}[]`, seen));
  return [...faults, ...compareOtherFields(documents, before, after, sender, place, seen)];
}

/** Returns what breaks in the fields of an object that its schema does not name. */
function compareOtherFields(
  documents: Documents,
  { additionalProperties: was = true }: Json,
  { additionalProperties: is = true }: Json,
  sender: Sender,
  place: string,
  seen: ReadonlySet<string>,
): Fault[] {
  if (isSchema(was) && is === false && sender === 'service') {
    return [{ place: `${place}.*`, problem: 'The fields are gone. Bring them back.' }];
  }
  if (isSchema(was) && is !== false) {
    return compareSchemas(documents, was, isSchema(is) ? is : ANYTHING, sender, `${place}.*`, seen);
  }
  // A response may get fields.
  return sender === 'service' || is === true || was === false
    ? []
    : [{ place, problem: 'It accepted and ignored other fields, and rejects some now. Ignore them.' }];
}

/** Returns a fault for each value of an enumeration that is gone, of an open one too. */
function goneValues(olds: Json[], news: Json[], sender: Sender, place: string): Fault[] {
  const values = new Set(news.flatMap((each) => valuesOf(each) ?? []));
  const acceptsAny = sender === 'client' && news.some((each) => each['type'] === 'string' && !valuesOf(each));
  return olds
    .flatMap((each) => valuesOf(each) ?? [])
    .filter((value) => !acceptsAny && !values.has(value))
    .map((value) => ({ place, problem: `The value ${text(value)} is gone. Bring it back.` }));
}

/** Returns a fault if a request without the value means something else now. */
function changedDefault([before]: Json[], [after]: Json[], sender: Sender, place: string): Fault[] {
  const was = before?.['default'];
  if (sender === 'service' || was === undefined || isDeepStrictEqual(was, after?.['default'])) {
    return [];
  }
  return [{ place, problem: `Its default was ${text(was)}, and is ${text(after?.['default'])}. Keep it.` }];
}

/** Returns a sentence for each bound that rejects what a request could contain. */
function tightened(before: Json, after: Json): string[] {
  const bound = (schema: Json, name: string, none: number) => (schema[name] as number | undefined) ?? none;
  const names = [
    ...UPPER.filter((name) => bound(after, name, Infinity) < bound(before, name, Infinity)),
    ...LOWER.filter((name) => bound(after, name, -Infinity) > bound(before, name, -Infinity)),
    ...EXACT.filter((name) => after[name] !== undefined && !isDeepStrictEqual(before[name], after[name])),
  ];
  return names.map(
    (name) =>
      `Its ${name} was ${text(before[name])}, and is ${text(after[name])}: requests that were accepted are ` +
      'rejected. A bound may only get looser.',
  );
}

function isType(type: unknown, of: unknown): boolean {
  return of === undefined || type === of || (type === 'integer' && of === 'number');
}

function isFormat(format: unknown, of: unknown): boolean {
  return of === undefined || format === of || (format === 'int32' && of === 'int64');
}

function valuesOf({ enum: values, const: value }: Json): unknown[] | undefined {
  return (values as unknown[] | undefined) ?? (value === undefined ? undefined : [value]);
}

const fieldsOf = ({ properties = {} }: Json) => properties as Record<string, Json>;
const requiredOf = ({ required = [] }: Json) => required as string[];
const isSchema = (value: unknown): value is Json => typeof value === 'object';
const text = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value));
