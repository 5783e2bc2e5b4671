import { clientMethod } from './client-method.js';

/** The languages of snippets, as Swagger UI takes them. */
export const LANGUAGES = {
  curl: { title: 'curl', syntax: 'bash' },
  javascript: { title: 'JavaScript', syntax: 'javascript' },
  python: { title: 'Python', syntax: 'python' },
};

/** Writes a request as a program, which has no key: it reads that from `ANIMAL_STORE_KEY`. */
export const snippets = ({ specSelectors }) => ({
  fn: {
    requestSnippetGenerator_curl: (request) => curl(readRequest(request)),
    requestSnippetGenerator_javascript: (request) => {
      const sent = readRequest(request);
      return clientCall(sent, specSelectors.specJson()) ?? fetchCall(sent);
    },
    requestSnippetGenerator_python: (request) => python(readRequest(request)),
  },
});

/** Returns what a snippet repeats of a request: all but the key and what a program accepts anyway. */
function readRequest(request) {
  const headers = Object.entries(request.get('headers')?.toJS() ?? {}).filter(
    ([name]) => !/^(authorization|accept)$/i.test(name),
  );
  return { method: request.get('method'), url: request.get('url'), headers, body: request.get('body') };
}

function curl({ method, url, headers, body }) {
  const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  return [
    `curl -i ${isImplied ? '' : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $ANIMAL_STORE_KEY"',
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

function python({ method, url, headers, body }) {
  const text = (value) => JSON.stringify(value);
  return [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${text(url)},`,
    `    method=${text(method)},`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["ANIMAL_STORE_KEY"],',
    ...headers.map(([name, value]) => `        ${text(name)}: ${text(value)},`),
    '    },',
    ...(body === undefined ? [] : [`    data=${text(body)}.encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.load(response))',
  ].join('\n');
}

function fetchCall({ method, url, headers, body }) {
  const text = (value) => JSON.stringify(value);
  return [
    `const response = await fetch(${text(url)}, {`,
    `  method: ${text(method)},`,
    '  headers: {',
    '    Authorization: `Bearer ${process.env.ANIMAL_STORE_KEY}`,',
    ...headers.map(([name, value]) => `    ${text(name)}: ${text(value)},`),
    '  },',
    ...(body === undefined ? [] : [`  body: ${text(body)},`]),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

/** Returns a call of the typed client, by an operation of the public document; null for another request. */
function clientCall({ method, url, headers, body }, document) {
  const baseUrl = new URL(document.getIn(['servers', 0, 'url']), url).href;
  const { pathname, searchParams } = new URL(url.slice(baseUrl.length), 'http://any');
  const { ids, path, operation } = findOperation(document, method, pathname) ?? {};
  const sent = new Map(headers);
  const idempotencyKey = sent.get('Idempotency-Key');
  sent.delete('Content-Type');
  sent.delete('Idempotency-Key');
  if (
    !baseUrl.endsWith('/v1') ||
    operation === undefined ||
    sent.size > 0 ||
    !ids.every(isInteger) ||
    !isJson(body)
  ) {
    return null;
  }
  const query = [...new Set(searchParams.keys())].map((name) => {
    const parameter = operation.get('parameters').find((each) => each.get('name') === name);
    const literals = searchParams.getAll(name).map((value) => queryLiteral(value, parameter));
    const isArray = parameter?.getIn(['schema', 'type']) === 'array';
    return `${name}: ${isArray ? `[${literals.join(', ')}]` : literals[0]}`;
  });
  const values = [
    ...ids.map(exactLiteral),
    ...(query.length > 0 ? [`{ ${query.join(', ')} }`] : []),
    ...(body === undefined ? [] : [body.replaceAll(STRING_OR_NUMBER, exactLiteral)]),
    ...(idempotencyKey === undefined ? [] : [`{ idempotencyKey: ${JSON.stringify(idempotencyKey)} }`]),
  ];
  const paths = [...document.get('paths').keys()];
  const { resource, method: name } = clientMethod(paths, path, operation.get('operationId'));
  return [
    "import { AnimalStore } from 'animal-store-client';",
    '',
    'const store = new AnimalStore({',
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    '  apiKey: process.env.ANIMAL_STORE_KEY,',
    '});',
    `console.log(await store.${resource}.${name}(${values.join(', ')}));`,
  ].join('\n');
}

/** Returns the operation that has a path and method, its template, and the identifiers in the path. */
function findOperation(document, method, pathname) {
  for (const [path, item] of document.get('paths')) {
    const match = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '([^/]+)')}$`).exec(pathname);
    const operation = item.get(method.toLowerCase());
    if (match !== null && operation !== undefined) {
      return { ids: match.slice(1), path, operation };
    }
  }
  return null;
}

/** Returns a value of a query parameter, or of one that is repeated, as a literal. */
function queryLiteral(value, parameter) {
  const types = [['type'], ['items', 'type']].map((path) => parameter?.getIn(['schema', ...path]));
  return types.includes('integer') && isInteger(value) ? exactLiteral(value) : JSON.stringify(value);
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+/g;
const isInteger = (text) => /^-?\d+$/.test(text);

/** Returns an integer that a number would round as a bigint, and any other text as it is. */
function exactLiteral(text) {
  return isInteger(text) && !Number.isSafeInteger(Number(text)) ? `${text}n` : text;
}

function isJson(text = 'null') {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
