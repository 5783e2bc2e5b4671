import type { PreparedRequest } from './request';

/** The environment variable that stands for the key. */
export const KEY_VARIABLE = 'ANIMAL_STORE_KEY';

/** Returns the `curl` command that sends a request, with this key or with the variable in its place. */
export function curlCommand({ method, url, headers, body }: PreparedRequest, apiKey: string | null): string {
  const authorization =
    apiKey === null ? `"Authorization: Bearer $${KEY_VARIABLE}"` : quote(`Authorization: Bearer ${apiKey}`);
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`,
    `-H ${authorization}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // --data would read a file if the text begins with an @.
    ...(body === null ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ');
}

/** Returns the text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
