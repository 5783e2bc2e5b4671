import { Alert, Button, Checkbox, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { KeyRestrictions, RestrictedKey, ScopeSuggestion } from 'animal-store-client';
import { useState } from 'react';
import { FormError } from '../../feedback/form-error';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import { useKeyRefresh } from '../key-query';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';

type Scope = NonNullable<KeyRestrictions['scopes']>[number];

const SCOPES: { value: Scope; label: string }[] = [
  { value: 'pets:read', label: 'Read animals' },
  { value: 'pets:write', label: 'Add animals' },
  { value: 'orders:read', label: 'Read orders' },
  { value: 'orders:write', label: 'Place orders' },
  { value: 'admin:read', label: 'Read administration' },
  { value: 'admin:write', label: 'Change keys and plans' },
];

/** Sets what a key may do, and from where. */
export function RestrictForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const refresh = useKeyRefresh();
  const [warned, setWarned] = useState<RestrictedKey | null>(null);
  const { form, ...submission } = useSubmission({
    initialValues: {
      scopes: (apiKey.scopes ?? []).join(','),
      allowedNetworks: (apiKey.allowedNetworks ?? []).join('\n'),
    },
    send: (given) => store.admin.keys.restrict(apiKey.id, toRestrictions(given)),
    onSent: (changed) => {
      if (changed.warning === undefined) {
        onChanged(changed);
      } else {
        refresh(changed);
        setWarned(changed);
      }
    },
  });
  const suggestion = useMutation({ mutationFn: () => store.admin.keys.suggestScopes(apiKey.id) });
  const suggest = () =>
    suggestion.mutate(undefined, {
      // An empty selection would allow everything.
      onSuccess: ({ used }) => used.length > 0 && setScopes(used.map(({ scope }) => scope)),
    });
  const setScopes = (scopes: string[]) => form.setFieldValue('scopes', scopes.join(','));
  if (warned !== null) {
    return <Warned changed={warned} onDone={() => onChanged(warned)} />;
  }
  const scopes = SCOPES.filter(({ value }) => apiKey.role === 'admin' || !value.startsWith('admin:'));
  return (
    <DialogForm action="Save" failure="The key was not restricted" submission={submission} onClose={onClose}>
      <Checkbox.Group
        label="What the key may do"
        description="Without any of them, it may do everything that its role may"
        value={form.values.scopes.split(',').filter(Boolean)}
        onChange={setScopes}
        error={form.errors['scopes']}
      >
        <Stack gap="xs" mt="xs">
          {scopes.map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} description={value} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group gap="sm">
        <Button variant="default" size="xs" loading={suggestion.isPending} onClick={suggest}>
          Select what it used
        </Button>
        {suggestion.data !== undefined && <Suggested suggestion={suggestion.data} />}
      </Group>
      {suggestion.error !== null && (
        <FormError error={suggestion.error} title="The usage could not be read" />
      )}
      <Textarea
        label="From where it may be used"
        description="Networks such as 203.0.113.0/24 or 2001:db8::/32, one a line; without any, from everywhere"
        rows={3}
        autoComplete="off"
        {...form.getInputProps('allowedNetworks')}
      />
      <Text size="sm">Other requests get 403 within a second, and count.</Text>
      <OwnKeyWarning id={apiKey.id}>
        It also holds for this console while you are signed in with it.
      </OwnKeyWarning>
    </DialogForm>
  );
}

function Suggested({ suggestion: { used } }: { suggestion: ScopeSuggestion }) {
  return (
    <Text size="sm" role="status">
      {used.length === 0
        ? 'No request of the last 30 days needed a scope'
        : `Selected what the requests of the last 30 days needed`}
    </Text>
  );
}

function Warned({ changed, onDone }: { changed: RestrictedKey; onDone: () => void }) {
  return (
    <Stack>
      <Alert color="orange" title="Saved, but check the networks">
        {changed.warning}
      </Alert>
      <Group justify="flex-end">
        <Button onClick={onDone} autoFocus>
          Close
        </Button>
      </Group>
    </Stack>
  );
}

function toRestrictions(given: { scopes: string; allowedNetworks: string }): KeyRestrictions {
  const scopes = given.scopes.split(',').filter(Boolean) as Scope[];
  const allowedNetworks = given.allowedNetworks.split(/[\s,]+/).filter(Boolean);
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(allowedNetworks.length > 0 && { allowedNetworks }),
  };
}
