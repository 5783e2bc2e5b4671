import { clientMethod } from './client-method.js';

/** The languages of programs: how the highlighter calls them, and what writes a request as one. */
const LANGUAGES = {
  curl: ['bash', curl],
  JavaScript: ['javascript', (request, document) => clientCall(request, document) ?? fetchCall(request)],
  Python: ['python', python],
};

/**
 * Shows the request of an operation before it is sent, as a program without a key: it reads that from
 * `ANIMAL_STORE_KEY`.
 */
export const snippets = ({ React, getComponent }) => {
  const create = React.createElement;
  return {
    components: {
      RequestSnippets: ({ path, method, operation, ...system }) => {
        const [language, setLanguage] = React.useState('curl');
        const [syntax, write] = LANGUAGES[language];
        const request = readRequest(system, { path, method, operation });
        const program = write(request, system.specSelectors.specJson());
        return create(
          'section',
          { className: 'request-snippets', 'aria-label': `Request of ${request.method} ${path}` },
          create(
            'div',
            { className: 'languages' },
            Object.keys(LANGUAGES).map((name) =>
              create(
                'button',
                {
                  key: name,
                  type: 'button',
                  className: 'btn',
                  'aria-pressed': name === language,
                  onClick: () => setLanguage(name),
                },
                name,
              ),
            ),
            create(getComponent('CopyToClipboardBtn', true), { textToCopy: program }),
          ),
          create(getComponent('SyntaxHighlighter', true), { language: syntax }, program),
        );
      },
    },
    wrapComponents: {
      execute:
        (Execute) =>
        ({ path, method, operation, ...props }) =>
          create(
            React.Fragment,
            null,
            // What grows as it is entered is below the button, which would move away from a click.
            create(Execute, { path, method, operation, ...props }),
            // Until its references are resolved, the operation is empty.
            operation.size > 0 && create(getComponent('RequestSnippets', true), { path, method, operation }),
          ),
      // Swagger UI shows it after the request was sent.
      curl: () => () => null,
    },
  };
};

/**
 * Returns the request that Execute would send, with all that a program repeats: not the key, and not what
 * it accepts anyway.
 */
function readRequest({ fn, specSelectors, oas3Selectors }, { path, method, operation }) {
  const parameters = specSelectors.parameterValues([path, method]).toJS();
  for (const parameter of operation.get('parameters') ?? []) {
    if (parameter.get('in') === 'path') {
      // The name stands for an identifier that was not entered.
      parameters[`path.${parameter.get('name')}`] ||= `{${parameter.get('name')}}`;
    }
  }
  const body = oas3Selectors.requestBodyValue(path, method) ?? undefined;
  const { url, headers } = fn.buildRequest({
    spec: specSelectors.specJsonWithResolvedSubtrees().toJS(),
    contextUrl: specSelectors.url(),
    server: oas3Selectors.selectedServer(),
    operationId: operation.get('operationId'),
    pathName: path,
    method,
    parameters,
    requestBody: body,
    requestContentType: oas3Selectors.requestContentType(path, method),
  });
  return {
    method: method.toUpperCase(),
    url: url.replaceAll('%7B', '{').replaceAll('%7D', '}'),
    headers: Object.entries(headers).filter(([name]) => !/^accept$/i.test(name)),
    body,
  };
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
