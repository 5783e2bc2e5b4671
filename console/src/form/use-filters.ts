import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { uuid } from '../address/search-reader';

/** Every change of a filter is a request, so typing waits for a pause. */
const PAUSE_MS = 500;

type Filters<Name extends string> = Partial<Record<Name, string>>;

/**
 * Keeps what is typed into the filters of a list, and reports the filters after a pause. They follow the
 * address: a link or the history of the browser replaces what was typed.
 *
 * @param read Returns the filters that the address keeps of those that are reported.
 */
export function useFilters<Name extends string>(
  search: Filters<Name>,
  onChange: (search: Filters<Name>) => void,
  read: (search: Filters<Name>) => Filters<Name>,
) {
  const [values, setValues] = useState(search);
  // The filters of the address, or those that it is about to have.
  const expected = useRef(keyOf(search));
  const report = (next: Filters<Name>) => {
    const valid = read(next);
    expected.current = keyOf(valid);
    // What is typed may not be valid yet, as a part of an id is not.
    onChange(valid);
  };
  const apply = useDebouncedCallback(report, PAUSE_MS);
  const current = keyOf(search);
  useEffect(() => {
    if (current !== expected.current) {
      expected.current = current;
      apply.cancel();
      setValues(JSON.parse(current) as Filters<Name>);
    }
  }, [current, apply]);
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
      report({});
    },
  };
}

/** Returns a text that is the same for the same filters, in whatever order. */
const keyOf = (search: Filters<string>) =>
  JSON.stringify(Object.fromEntries(Object.entries(search).toSorted(([a], [b]) => (a < b ? -1 : 1))));

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
