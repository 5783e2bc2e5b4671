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

/** Splits the message of a 400, such as "The request is invalid: name is required; categoryId is required.", by field. */
function splitMessage<Field extends string>(message: string, names: readonly Field[]): FieldErrors<Field> {
  const text = message.replace(/^The request is invalid: /, '').replace(/\.$/, '');
  const fields: FieldErrors<Field>['fields'] = {};
  let rest: string | null = null;
  // An error may contain a semicolon, so each begins with the name of a field.
  for (const each of text.split(new RegExp(`; (?=(?:${names.join('|')}) )`))) {
    const name = names.find((field) => each.startsWith(`${field} `));
    if (name === undefined) {
      rest = message;
    } else {
      const error = each.slice(name.length + 1);
      fields[name] = fields[name] === undefined ? capitalized(error) : `${fields[name]}; ${error}`;
    }
  }
  return { fields, rest };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
