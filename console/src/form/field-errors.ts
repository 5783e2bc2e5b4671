import { ValidationError } from 'animal-store-client';

/** What the service found wrong: by field, and the whole message if it names another error too. */
interface FieldErrors<Field extends string> {
  fields: Partial<Record<Field, string>>;
  rest: string | null;
}

/** An error that a form itself finds in one of its fields. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Splits a failure by field; null for one that is not about fields. */
export function splitFailure(error: Error | null, names: readonly string[]): FieldErrors<string> | null {
  if (error instanceof FieldError) {
    return { fields: { [error.field]: error.message }, rest: null };
  }
  return error instanceof ValidationError ? splitMessage(error.message, names) : null;
}

/**
 * Splits the message of a 400, such as "The request is invalid: name is required; categoryId is required.",
 * by field.
 */
function splitMessage<Field extends string>(message: string, names: readonly Field[]): FieldErrors<Field> {
  const text = message.replace(/^The request is invalid: /, '').replace(/\.$/, '');
  const fields: FieldErrors<Field>['fields'] = {};
  let rest: string | null = null;
  // An error may contain a semicolon, so each begins with the name of a field, or of an item of a list.
  const start = `(?:${names.join('|')})(?:\\[\\d+\\])?:? `;
  for (const each of text.split(new RegExp(`; (?=${start})`))) {
    const [, field, item, fault = ''] = /^(\w+)(?:\[(\d+)\])?:? (.+)$/.exec(each) ?? [];
    const name = names.find((known) => known === field);
    if (name === undefined) {
      rest = message;
    } else {
      const error = item === undefined ? fault : `item ${Number(item) + 1} ${fault}`;
      fields[name] = fields[name] === undefined ? capitalized(error) : `${fields[name]}; ${error}`;
    }
  }
  return { fields, rest };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
