import { Checkbox, Input, SegmentedControl, Stack, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Key } from 'animal-store-client';
import type { ScopeChoice } from '../scopes';

const EXAMPLES = 'One per line, such as 203.0.113.0/24 or 2001:db8::/32.';

interface RestrictionValues {
  /** Either `all`, or `selected` for those in `scopes`. */
  permissions: string;
  /** Separated by commas. */
  scopes: string;
  /** Separated by space or commas. */
  allowedNetworks: string;
}

/** The values of a key without restrictions. */
export const UNRESTRICTED: RestrictionValues = { permissions: 'all', scopes: '', allowedNetworks: '' };

interface RestrictionFieldsProps<Values extends RestrictionValues> {
  form: UseFormReturnType<Values>;
  /** The scopes to select from. */
  choices: ScopeChoice[];
  /** The label of all scopes, such as "All of its role". */
  all: string;
  /** Says from where the key may be used if no network is given. */
  anywhere: string;
}

/** Asks for what a key may do, and from where. */
export function RestrictionFields<Values extends RestrictionValues>(props: RestrictionFieldsProps<Values>) {
  const { form, choices, all, anywhere } = props;
  const { onChange } = form.getInputProps('scopes') as { onChange: (value: string) => void };
  return (
    <>
      <Stack gap="sm">
        <Input.Wrapper label="Scopes" labelElement="div">
          <SegmentedControl
            fullWidth
            aria-label="Scopes"
            data={[
              { value: 'all', label: all },
              { value: 'selected', label: 'Selected' },
            ]}
            {...form.getInputProps('permissions')}
          />
        </Input.Wrapper>
        {form.values.permissions === 'selected' && (
          <Checkbox.Group
            aria-label="Selected scopes"
            value={form.values.scopes.split(',').filter(Boolean)}
            onChange={(scopes) => onChange(scopes.join(','))}
            error={form.errors['scopes']}
          >
            <Stack gap="xs" pb={4}>
              {choices.map(({ value, label }, index) => (
                <Checkbox
                  key={value}
                  value={value}
                  label={label}
                  description={value}
                  // The first gets the focus if the selection is wrong.
                  data-path={index === 0 ? 'scopes' : undefined}
                />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      </Stack>
      <Textarea
        label="Allowed networks"
        description={`${EXAMPLES} ${anywhere}`}
        rows={2}
        autoComplete="off"
        {...form.getInputProps('allowedNetworks')}
      />
    </>
  );
}

/** Returns what is wrong with the selection of scopes: without a scope, the key could do nothing. */
export function restrictionErrors(given: RestrictionValues, choices: ScopeChoice[]): { scopes?: string } {
  const { permissions, scopes } = given;
  const isEmpty = permissions === 'selected' && selectedScopes(scopes, choices).length === 0;
  return isEmpty ? { scopes: 'Select at least one scope' } : {};
}

/** Returns the values of a form for a key as it is. */
export function toRestrictionValues({ scopes, allowedNetworks }: Restrictions): RestrictionValues {
  return {
    permissions: scopes === null ? 'all' : 'selected',
    scopes: (scopes ?? []).join(','),
    allowedNetworks: (allowedNetworks ?? []).join('\n'),
  };
}

type Restrictions = Pick<Key, 'scopes' | 'allowedNetworks'>;

/**
 * Returns the fields of a request, without scopes that are not among the choices; null for no restriction.
 */
export function toRestrictions(given: RestrictionValues, choices: ScopeChoice[]) {
  const allowedNetworks = given.allowedNetworks.split(/[\s,]+/).filter(Boolean);
  return {
    scopes: given.permissions === 'all' ? null : selectedScopes(given.scopes, choices),
    allowedNetworks: allowedNetworks.length === 0 ? null : allowedNetworks,
  };
}

function selectedScopes(scopes: string, choices: ScopeChoice[]) {
  const selected = scopes.split(',');
  return choices.flatMap(({ value }) => (selected.includes(value) ? [value] : []));
}
