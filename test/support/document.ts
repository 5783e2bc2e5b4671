import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'lossless-json';
import { SECURITY_HEADERS } from '../../src/http/security-headers.js';

/** JSON Schema, as far as the document has it. */
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
  /** As the service has it: with `/v1` where the document has it in its servers. */
  path: string;
  parameters: Parameter[];
  body: Schema | null;
  responses: Record<string, Response>;
  stability: string;
  /** The day of its removal, where it is deprecated. */
  sunset: Date | null;
}

interface Document {
  paths: Record<string, Record<string, unknown>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
  };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const NAME = 'openapi';
const FILES = ['openapi.json', 'admin-openapi.json'];
/** What HTTP itself has on a response: no interface says it of each. */
const OF_HTTP = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

/** What this service has on every response, for browsers: no operation says it, and none may be without. */
const OF_EVERY_RESPONSE = new Map(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);

/** The committed OpenAPI documents together, and what they say of requests and responses. */
export class ApiDocument {
  private readonly document: Document;
  private readonly ajv = new Ajv2020.default({ strict: false, allErrors: true, coerceTypes: false });

  /** @param files the documents; both of them when not given. */
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
          responses: Record<string, Response>;
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
          responses: operation.responses,
          stability,
          sunset: sunset === undefined ? null : new Date(sunset),
        };
      }),
    );
  }

  /** The schema that this one refers to, or itself. */
  resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : (this.document.components.schemas[name] ?? {});
  }

  /** What of a response is not as the document says, a line each. */
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
    const untold = [...headers.keys()].filter(
      (name) => !names.has(name) && !OF_HTTP.has(name) && !OF_EVERY_RESPONSE.has(name),
    );
    const unsafe = [...OF_EVERY_RESPONSE].filter(([name, value]) => headers.get(name) !== value);
    const wrong = Object.entries(listed).flatMap(([name, told]) => {
      const header =
        '$ref' in told ? this.document.components.headers[told.$ref.split('/').at(-1) ?? ''] : told;
      const value = headers.get(name);
      if (header === undefined || value === null) {
        return header?.required === false ? [] : [`the header ${name} is missing`];
      }
      return this.faults(header.schema, header.schema.type === 'integer' ? Number(value) : value, name);
    });
    return [
      ...untold.map((name) => `the header ${name} is not listed`),
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

/** The documents as one. What two of them have under one name is the same. */
function joined(documents: Document[]): Document {
  const join = <Value>(of: (document: Document) => Record<string, Value>) =>
    Object.fromEntries(documents.flatMap((document) => Object.entries(of(document))));
  return {
    paths: join(({ paths }) => paths),
    components: {
      schemas: join(({ components }) => components.schemas),
      headers: join(({ components }) => components.headers),
    },
  };
}

/** The same, where an object has no field that is not told: a client may be sent more one day, but nothing by mistake. */
function closed<Value>(schema: Value): Value {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) =>
    isObjectSchema(value) ? { additionalProperties: false, ...value } : value,
  ) as Value;
}

function isObjectSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'object';
}

/** Every number of this interface is an integer of 64 bits, which only its digits can tell. */
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
