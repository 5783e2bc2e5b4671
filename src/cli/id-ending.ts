import { ApiError } from '../http/api-error.js';
import { isUuid } from '../schemas/uuid.js';

const ENDING = /^…?([0-9a-f-]{4,35})$/i;

/**
 * Returns the id that is `text` or ends with it.
 *
 * @param idsEndingWith returns the first few ids that end with a text in lower case.
 * @param notFound returns the error if no id ends with `text`.
 * @throws ApiError that error; `invalid_request` if several ids end with it.
 */
export async function findId(
  text: string,
  idsEndingWith: (ending: string) => Promise<string[]>,
  notFound: (text: string) => ApiError,
): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const ending = ENDING.exec(text)?.[1]?.toLowerCase();
  const [id, ...others] = ending === undefined ? [] : await idsEndingWith(ending);
  if (id === undefined) {
    throw notFound(text);
  }
  if (others.length > 0) {
    const ids = [id, ...others].join(', ');
    throw new ApiError('invalid_request', `Several ids end with "${ending}": ${ids}. Give more of it.`);
  }
  return id;
}
