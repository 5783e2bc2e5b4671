/**
 * Returns the path of the resource that an operation belongs to, such as `/store/orders`: the shortest
 * beginning of the operation's path that the document has, alone or with an identifier.
 *
 * @param paths all paths of the document.
 */
export function resourcePath(paths, path) {
  const names = path.split('/').slice(1);
  const beginnings = names.map((_name, index) => `/${names.slice(0, index + 1).join('/')}`);
  return beginnings.find((beginning) => paths.some((known) => restBelow(beginning, known) === ''));
}

/**
 * Returns the resource of the typed client that an operation belongs to, and the name of its method.
 *
 * For an operation on the resource itself, that is the first word of its `operationId`: `list`, `create`;
 * also for an action on it whose path ends with that word: `rotate`. For any other, it is the `operationId`
 * without `list` or `get` and without the resource: `totals` for listUsageTotals.
 */
export function clientMethod(paths, path, operationId) {
  const own = resourcePath(paths, path);
  const resource = camelCase(own.split('/').at(-1));
  const noun = capitalized(resource).replace(/s$/, '');
  const rest = restBelow(own, path);
  const [verb] = /^[a-z]+/.exec(operationId);
  const isCollection = paths.some((known) => known.startsWith(`${own}/{`));
  const isOnItself = path.startsWith(`${own}/{`) || !isCollection;
  const isAction = rest === `/${verb}` && operationId.endsWith(noun) && isOnItself;
  const part = operationId.replace(/^(list|get)(?=[A-Z])/, '').replace(new RegExp(`${noun}s?`), '');
  return { resource, method: rest === '' || isAction ? verb : uncapitalized(part) };
}

/** Returns what follows a resource in a path, and an identifier of it, if any; null for another path. */
function restBelow(resource, path) {
  const rest = path.slice(resource.length);
  return path.startsWith(resource) && /^(\/|$)/.test(rest) ? rest.replace(/^\/\{[^}]+\}/, '') : null;
}

const camelCase = (text) => text.replaceAll(/-(.)/g, (_match, letter) => letter.toUpperCase());
const capitalized = (word) => word[0].toUpperCase() + word.slice(1);
const uncapitalized = (word) => word[0].toLowerCase() + word.slice(1);
