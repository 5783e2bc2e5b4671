import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'lossless-json';
import { SECURITY_HEADERS } from '../../../src/server/security-headers.js';

/** The part of JSON Schema that the documents use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
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

interface Header {
  required: boolean;
  schema: Schema;
}

interface Response {
  headers?: Record<string, Header | { $ref: string }>;
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

interface Document {
  paths: Record<string, Record<string, unknown>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    responses: Record<string, Response>;
  };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const NAME = 'openapi';
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

/** The committed OpenAPI documents as one, and the check of responses against them. */
export class ApiDocument {
  private readonly document: Document;
  private readonly ajv = new Ajv2020.default({ strict: false, allErrors: true, coerceTypes: false });

  /** @param files the documents. */
  constructor(files = FILES) {
    this.document = joined(files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Document));
    addFormats.default(this.ajv);
    this.ajv.addSchema(closed(this.document), NAME);
  }

  get operations(): Operation[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => method in item).map((method) => {
        const operation = item[method] as {
          operationId: string;
          parameters?: Parameter[];
          requestBody?: { content: Record<string, { schema: Schema }> };
          responses: Record<string, Response & { $ref?: string }>;
          'x-stability': string;
          'x-sunset'?: string;
        };
        const { 'x-stability': stability, 'x-sunset': sunset } = operation;
        return {
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path: path.startsWith('/admin') ? path : `/v1${path}`,
          parameters: operation.parameters ?? [],
          body: operation.requestBody?.content['application/json']?.schema ?? null,
          responses: this.resolved(operation.responses),
          stability,
          sunset: sunset === undefined ? null : new Date(sunset),
        };
      }),
    );
  }

  /** The responses, with those that they refer to. */
  private resolved(responses: Record<string, Response & { $ref?: string }>): Record<string, Response> {
    return Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        this.document.components.responses[response.$ref?.split('/').at(-1) ?? ''] ?? response,
      ]),
    );
  }

  /** The schema that this one refers to, or itself. */
  resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : (this.document.components.schemas[name] ?? {});
  }

  /** Returns a line for each difference between a response and the document. */
  faultsOf(operation: Operation, status: number, headers: Headers, text: string): string[] {
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
    const wrong = Object.entries(listed).flatMap(([name, described]) => {
      const header =
        '$ref' in described
          ? this.document.components.headers[described.$ref.split('/').at(-1) ?? '']
          : described;
      const value = headers.get(name);
      if (header === undefined || value === null) {
        return header?.required === false ? [] : [`the header ${name} is missing`];
      }
      return this.faults(header.schema, header.schema.type === 'integer' ? Number(value) : value, name);
    });
    return [
      ...unlisted.map((name) => `the header ${name} is not listed`),
      ...unsafe.map(([name, value]) => `the header ${name} is not ${value}`),
      ...wrong,
    ];
  }

  private faults(schema: Schema, value: unknown, what: string): string[] {
    const absolute = JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', `"${NAME}#/`)) as Schema;
    const isValid = this.ajv.validate(absolute, value);
    return isValid
      ? []
      : (this.ajv.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }
}

/** Joins the documents. Components with the same name are the same. */
function joined(documents: Document[]): Document {
  const join = <Value>(of: (document: Document) => Record<string, Value>) =>
    Object.fromEntries(documents.flatMap((document) => Object.entries(of(document))));
  return {
    paths: join(({ paths }) => paths),
    components: {
      schemas: join(({ components }) => components.schemas),
      headers: join(({ components }) => components.headers),
      responses: join(({ components }) => components.responses),
    },
  };
}

/** Returns the schema without additional properties: fields may be added later, but none may be sent by mistake. */
function closed<Value>(schema: Value): Value {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) =>
    isObjectSchema(value) ? { additionalProperties: false, ...value } : value,
  ) as Value;
}

function isObjectSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'object';
}

/** Returns the numbers that are no int64. Reads their digits, as a parsed number may have lost some. */
function numberFaults(text: string): string[] {
  const faults: string[] = [];
  parse(text, null, (digits) => {
    if (!/^-?\d+$/.test(digits) || BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
      faults.push(`${digits} is no int64`);
    }
    return digits;
  });
  return faults;
}
