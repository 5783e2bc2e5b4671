import { Checkbox, Stack, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Key } from 'animal-store-client';
import { scopesOfRole } from '../scopes';

const NETWORKS = 'Networks such as 203.0.113.0/24 or 2001:db8::/32, one a line; without any, from everywhere';

interface RestrictionValues {
  /** Separated by commas. */
  scopes: string;
  /** Separated by space or commas. */
  allowedNetworks: string;
}

interface RestrictionFieldsProps<Values extends RestrictionValues> {
  form: UseFormReturnType<Values>;
  role: string;
}

/** Asks for what a key may do, and from where. */
export function RestrictionFields<Values extends RestrictionValues>(props: RestrictionFieldsProps<Values>) {
  const { form, role } = props;
  const { onChange } = form.getInputProps('scopes') as { onChange: (value: string) => void };
  return (
    <>
      <Checkbox.Group
        label="What the key may do"
        description="Without any of them, it may do everything that its role may"
        value={form.values.scopes.split(',').filter(Boolean)}
        onChange={(scopes) => onChange(scopes.join(','))}
        error={form.errors['scopes']}
      >
        <Stack gap="xs" mt="xs">
          {scopesOfRole(role).map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} description={value} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Textarea
        label="From where it may be used"
        description={NETWORKS}
        rows={3}
        autoComplete="off"
        {...form.getInputProps('allowedNetworks')}
      />
    </>
  );
}

/**
 * Returns the fields of a request, without scopes that keys of the role may not have; null for no
 * restriction.
 */
export function toRestrictions(
  given: RestrictionValues,
  role: string,
): Pick<Key, 'scopes' | 'allowedNetworks'> {
  const chosen = given.scopes.split(',');
  const scopes = scopesOfRole(role).flatMap(({ value }) => (chosen.includes(value) ? [value] : []));
  const allowedNetworks = given.allowedNetworks.split(/[\s,]+/).filter(Boolean);
  return {
    scopes: scopes.length === 0 ? null : scopes,
    allowedNetworks: allowedNetworks.length === 0 ? null : allowedNetworks,
  };
}
