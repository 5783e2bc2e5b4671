/** The methods that OpenTelemetry's conventions for HTTP know. */
const KNOWN_METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '));

/** Returns a method that OpenTelemetry's conventions know, or `_OTHER`. */
export function knownMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : '_OTHER';
}

/** Returns the scheme of a request, whatever text a proxy's header has for it. */
export function urlScheme(protocol: string): 'http' | 'https' {
  return protocol === 'https' ? 'https' : 'http';
}

/** Returns the path of a route in the form of the OpenAPI document, such as `/v1/pets/{petId}`. */
export function routeTemplate(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}');
}
