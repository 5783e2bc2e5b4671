import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { uuid } from '../address/search-reader';

/** Every change of a filter is a request, so typing waits for a pause. */
const PAUSE_MS = 500;

type Filters<Name extends string> = Partial<Record<Name, string>>;

/** Keeps what is typed into the filters of a list, and reports the filters after a pause. */
export function useFilters<Name extends string>(
  search: Filters<Name>,
  onChange: (search: Filters<Name>) => void,
) {
  const [values, setValues] = useState(search);
  const apply = useDebouncedCallback(onChange, PAUSE_MS);
  const change = (name: Name) => (event: { currentTarget: { value: string } }) => {
    const { [name]: _old, ...rest } = values;
    const { value } = event.currentTarget;
    const next = (value === '' ? rest : { ...rest, [name]: value }) as Filters<Name>;
    setValues(next);
    apply(trimmed(next));
  };
  return {
    values,
    isEmpty: Object.keys(values).length === 0,
    /** Returns the properties of the field of a filter. */
    field: (name: Name) => ({ value: values[name] ?? '', onChange: change(name) }),
    clear: () => {
      apply.cancel();
      setValues({});
      onChange({});
    },
  };
}

function trimmed<Name extends string>(search: Filters<Name>): Filters<Name> {
  return Object.fromEntries(
    Object.entries<string | undefined>(search)
      .map(([name, value = '']) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  ) as Filters<Name>;
}

/** Returns whether a text is given that is not a complete id. */
export function isPartOfId(text = ''): boolean {
  return text !== '' && uuid(text.trim()) === undefined;
}
