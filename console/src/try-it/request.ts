import type { Operation, Parameter } from './operations';

/** What the reader entered, as text. A parameter that is empty is not sent. */
export interface Values {
  path: Record<string, string>;
  query: Record<string, string>;
  header: Record<string, string>;
  body: string;
}

/** A request without the API key. */
export interface PreparedRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  /** Is null if the request has no body. */
  body: string | null;
}

/** Returns the values of an empty form, with the example of the request body. */
export function emptyValues({ parameters, body }: Operation): Values {
  const empty = (place: Parameter['place']) =>
    Object.fromEntries(parameters.filter((each) => each.place === place).map(({ name }) => [name, '']));
  return { path: empty('path'), query: empty('query'), header: empty('header'), body: body?.example ?? '' };
}

/** Returns the request that these values make to the service at this address, which ends in a slash. */
export function prepareRequest(operation: Operation, values: Values, root: string): PreparedRequest {
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_placeholder, name: string) => {
    const value = values.path[name] ?? '';
    return value === '' ? `:${name}` : encode(value);
  });
  const query = filledIn(values.query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const body = operation.body === null || values.body === '' ? null : values.body;
  const headers = filledIn(values.header).map(([name, value]): [string, string] => [name, value.trim()]);
  if (body !== null) {
    headers.push(['Content-Type', operation.body?.contentType ?? 'application/json']);
  }
  return {
    method: operation.method,
    url: new URL(`.${query.length === 0 ? path : `${path}?${query.join('&')}`}`, root).href,
    headers,
    body,
  };
}

/** Returns why a value cannot be sent as this parameter at all, or null. The service judges the rest. */
export function parameterError({ name, place }: Parameter, value: string): string | null {
  if (place === 'path') {
    if (value === '') {
      return `Enter ${name}, which is part of the path`;
    }
    return /^\.{1,2}$/.test(value) ? 'A part of a path cannot be dots alone' : null;
  }
  // Headers carry the characters of ISO 8859-1 only.
  return place === 'header' && !/^[\t\x20-\x7E\xA0-\xFF]*$/.test(value)
    ? 'A header cannot carry these characters'
    : null;
}

function filledIn(values: Record<string, string>): [string, string][] {
  return Object.entries(values).filter(([, value]) => value.trim() !== '');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
