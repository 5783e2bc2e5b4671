import { ValidationError } from 'animal-store-client';

/** What the service found wrong: by field, and the whole message where it names another fault too. */
export interface Faults<Field extends string> {
  fields: Partial<Record<Field, string>>;
  rest: string | null;
}

/** What a form finds wrong with one of its fields on its way to the service. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Splits a failure by field; null for one that is not about fields. */
export function faultsOfError(error: Error | null, names: readonly string[]): Faults<string> | null {
  if (error instanceof FieldError) {
    return { fields: { [error.field]: error.message }, rest: null };
  }
  return error instanceof ValidationError ? faultsOf(error.message, names) : null;
}

/** Splits the message of a 400, such as "The request is invalid: name is required; categoryId is required.", by field. */
function faultsOf<Field extends string>(message: string, names: readonly Field[]): Faults<Field> {
  const faults = message.replace(/^The request is invalid: /, '').replace(/\.$/, '');
  const fields: Faults<Field>['fields'] = {};
  let rest: string | null = null;
  // A fault may have a semicolon of its own, so a fault begins with the name of a field.
  for (const fault of faults.split(new RegExp(`; (?=(?:${names.join('|')}) )`))) {
    const name = names.find((each) => fault.startsWith(`${each} `));
    if (name === undefined) {
      rest = message;
    } else {
      const text = fault.slice(name.length + 1);
      fields[name] = fields[name] === undefined ? capitalized(text) : `${fields[name]}; ${text}`;
    }
  }
  return { fields, rest };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
