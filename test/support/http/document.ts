import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'lossless-json';
import { SECURITY_HEADERS } from '../../../src/http/responses/security-headers.js';

/** The part of JSON Schema that the documents use. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  examples?: unknown[];
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  schema: Schema;
}

interface Response {
  headers?: Record<string, { required: boolean; schema: Schema }>;
  content?: Record<string, { schema: Schema }>;
}

export interface Operation {
  operationId: string;
  method: string;
  /** With `/v1`, which the public document has in its servers. */
  path: string;
  parameters: Parameter[];
  body: Schema | null;
  responses: Record<string, Response>;
  stability: string;
  /** The removal day of a deprecated operation. */
  sunset: Date | null;
}

/** An operation as a document has it, its references replaced. */
interface DocumentedOperation extends Pick<Operation, 'operationId' | 'responses'> {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  'x-stability': string;
  'x-sunset'?: string;
}

/** What a query of these operations has at least: one of several parameters, which OpenAPI cannot say. */
export const REQUIRED_QUERY: Record<string, string> = { getWhatIf: 'plan=pro' };

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
const FILES = ['openapi.json', 'admin-openapi.json'];
/** Headers of HTTP itself, which the document does not list. */
const OF_HTTP = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

/** Headers for browsers on every response, which the document does not list. */
const OF_EVERY_RESPONSE = new Map(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);

/** The operations of the committed OpenAPI documents, and the check of responses against them. */
export class ApiDocument {
  readonly operations: Operation[];
  /** Those that take an `Idempotency-Key`. */
  readonly creations: Operation[];
  private readonly ajv = new Ajv2020.default({
    strict: false,
    allErrors: true,
    coerceTypes: false,
    // A schema judges a few responses, which takes less time than optimizing its code.
    code: { optimize: false },
  });

  /** @param files the documents. */
  constructor(files = FILES) {
    addFormats.default(this.ajv);
    this.operations = files.flatMap(readOperations);
    this.creations = this.operations.filter(({ parameters }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
  }

  /** Returns a line for each difference between a response and the document. */
  findFaults(operation: Operation, status: number, headers: Headers, text: string): string[] {
    const response = operation.responses[status];
    if (response === undefined) {
      return [`the status ${status} is not listed`];
    }
    return [...this.bodyFaults(response, headers, text), ...this.headerFaults(response, headers)];
  }

  private bodyFaults({ content }: Response, headers: Headers, text: string): string[] {
    const type = headers.get('content-type');
    if (content === undefined) {
      return text === '' && type === null ? [] : [`there is a body of type ${type}: ${text}`];
    }
    const schema = content[type?.split(';')[0] ?? '']?.schema;
    return schema === undefined
      ? [`the type ${type} is not listed`]
      : [...this.faults(schema, JSON.parse(text), 'the body'), ...numberFaults(text)];
  }

  private headerFaults({ headers: listed = {} }: Response, headers: Headers): string[] {
    const names = new Set(Object.keys(listed).map((name) => name.toLowerCase()));
    const unlisted = [...headers.keys()].filter(
      (name) => !names.has(name) && !OF_HTTP.has(name) && !OF_EVERY_RESPONSE.has(name),
    );
    const unsafe = [...OF_EVERY_RESPONSE].filter(([name, value]) => headers.get(name) !== value);
    const wrong = Object.entries(listed).flatMap(([name, { required, schema }]) => {
      const value = headers.get(name);
      if (value === null) {
        return required ? [`the header ${name} is missing`] : [];
      }
      return this.faults(schema, schema.type === 'integer' ? Number(value) : value, name);
    });
    return [
      ...unlisted.map((name) => `the header ${name} is not listed`),
      ...unsafe.map(([name, value]) => `the header ${name} is not ${value}`),
      ...wrong,
    ];
  }

  private faults(schema: Schema, value: unknown, what: string): string[] {
    const isValid = this.ajv.validate(schema, value);
    return isValid
      ? []
      : (this.ajv.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }
}

function readOperations(file: string): Operation[] {
  const document = JSON.parse(readFileSync(`docs/${file}`, 'utf8')) as Record<string, unknown>;
  const paths = closed(document['paths'], document) as Record<string, Record<string, DocumentedOperation>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path: path.startsWith('/admin') ? path : `/v1${path}`,
        parameters: operation.parameters ?? [],
        body: operation.requestBody?.content['application/json']?.schema ?? null,
        stability: operation['x-stability'],
        sunset: operation['x-sunset'] === undefined ? null : new Date(operation['x-sunset']),
      })),
  );
}

/**
 * Returns a part of a document with its references replaced. Its schemas allow no additional properties:
 * fields may be added later, but none may be sent by mistake.
 *
 * @param resolved what references refer to. One object for all of them is compiled once as a schema.
 */
function closed(part: unknown, document: unknown, resolved = new Map<unknown, unknown>()): unknown {
  return JSON.parse(JSON.stringify(part), (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    if ('$ref' in value) {
      const { $ref } = value;
      if (!resolved.has($ref)) {
        const keys = String($ref).split('/').slice(1);
        const target = keys.reduce((parent, key) => (parent as Record<string, unknown>)[key], document);
        resolved.set($ref, closed(target, document, resolved));
      }
      return resolved.get($ref);
    }
    return 'type' in value && value.type === 'object' ? { additionalProperties: false, ...value } : value;
  });
}

/**
 * Returns the integers that are no int64. Reads their digits, because a parsed number may have lost some. The
 * schema says where a fraction may be.
 */
function numberFaults(text: string): string[] {
  const faults: string[] = [];
  parse(text, null, (digits) => {
    const isInt64 = /^-?\d+$/.test(digits) && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
    if (Number.isInteger(Number(digits)) && !isInt64) {
      faults.push(`${digits} is no int64`);
    }
    return digits;
  });
  return faults;
}
