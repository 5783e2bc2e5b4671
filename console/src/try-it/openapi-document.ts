/** The parts of an OpenAPI 3.1 document that the page reads. */
export interface OpenApiDocument {
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, DocumentOperation>>;
  components?: {
    schemas?: Record<string, Schema>;
    headers?: Record<string, DocumentHeader>;
    responses?: Record<string, DocumentResponse>;
  };
}

/** An operation as a document describes it, with the extensions of this service. */
export interface DocumentOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  parameters?: DocumentParameter[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema?: Schema }>;
  };
  responses: Record<string, DocumentResponse>;
  'x-stability'?: string;
  'x-deprecated-since'?: string;
  'x-sunset'?: string;
  'x-replacement'?: string;
}

/** A response as a document describes it, or a reference to one. */
export interface DocumentResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, DocumentHeader>;
}

/** A parameter as a document describes it. */
export interface DocumentParameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

interface DocumentHeader {
  $ref?: string;
  description?: string;
}

/** The parts of a JSON schema that the form uses. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
}
