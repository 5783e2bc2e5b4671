import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Key, ScopeSuggestion } from 'animal-store-client';
import { useState } from 'react';
import { FormError } from '../../feedback/form-error';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { Instant } from '../../format/instant';
import { countText } from '../../format/number';
import { useStore } from '../../session/session';
import { useKeyRefresh } from '../key-query';
import { scopesOfRole } from '../scopes';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';
import {
  RestrictionFields,
  restrictionErrors,
  toRestrictions,
  toRestrictionValues,
} from './restriction-fields';
import { warningText } from './warning-text';

/** Changes what a key may do, and from where. */
export function RestrictForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const refresh = useKeyRefresh();
  const [warned, setWarned] = useState<Key | null>(null);
  const choices = scopesOfRole(apiKey.role);
  const initialValues = { ...toRestrictionValues(apiKey) };
  const areScopesChanged = ({ permissions, scopes }: typeof initialValues) =>
    permissions !== initialValues.permissions || scopes !== initialValues.scopes;
  const { form, ...submission } = useSubmission({
    initialValues,
    validate: (given) => (areScopesChanged(given) ? restrictionErrors(given, choices) : {}),
    send: (given) => {
      const { scopes, allowedNetworks } = toRestrictions(given, choices);
      // Sends only changed fields: another administrator may have changed the others meanwhile.
      return store.admin.keys.update(apiKey.id, {
        ...(areScopesChanged(given) && { scopes }),
        ...(given.allowedNetworks !== initialValues.allowedNetworks && { allowedNetworks }),
      });
    },
    onSent: (changed) => {
      if (warningText(changed) === '') {
        onChanged(changed);
      } else {
        refresh(changed);
        setWarned(changed);
      }
    },
  });
  const suggestion = useMutation({ mutationFn: () => store.admin.keys.scopeSuggestion(apiKey.id) });
  const suggest = () =>
    suggestion.mutate(undefined, {
      onSuccess: ({ scopes }) => {
        const used = scopes.filter(({ uses }) => uses > 0).map(({ scope }) => scope);
        // A key that used nothing keeps what is selected, because it could do nothing without a scope.
        if (used.length > 0) {
          form.setFieldValue('permissions', 'selected');
          form.setFieldValue('scopes', used.join(','));
        }
      },
    });
  if (warned !== null) {
    return <Warned changed={warned} onDone={() => onChanged(warned)} />;
  }
  return (
    <DialogForm action="Save" failure="The key was not restricted" submission={submission} onClose={onClose}>
      <RestrictionFields
        form={form}
        choices={choices}
        all="All of its role"
        anywhere={
          apiKey.allowedNetworks?.length === 0
            ? 'No address is allowed now. To allow any address, enter 0.0.0.0/0 and ::/0.'
            : 'Leave empty to allow any address.'
        }
      />
      <Group gap="sm">
        <Button variant="default" size="xs" loading={suggestion.isPending} onClick={suggest}>
          Select the scopes it has used
        </Button>
      </Group>
      {suggestion.data !== undefined && <Suggested suggestion={suggestion.data} />}
      {suggestion.error !== null && (
        <FormError error={suggestion.error} title="The usage could not be read" />
      )}
      <Text size="sm">
        Other requests get 403 and still count. Keys that were issued with this key are restricted too. The
        change takes effect within a second.
      </Text>
      <OwnKeyWarning id={apiKey.id}>
        The restriction also applies to this console while you are signed in with this key.
      </OwnKeyWarning>
    </DialogForm>
  );
}

function Suggested({ suggestion: { since, scopes } }: { suggestion: ScopeSuggestion }) {
  const used = scopes.filter(({ uses }) => uses > 0);
  const unused = scopes.filter(({ uses }) => uses === 0);
  return (
    <Text size="sm" role="status">
      Since <Instant at={since} />, successful requests{' '}
      {used.length === 0 ? 'needed no scope.' : `needed ${used.map(usedText).join(', ')}.`}
      {unused.length > 0 && ` Unused: ${unused.map(unusedText).join(', ')}.`}
    </Text>
  );
}

const usedText = ({ scope, uses }: ScopeSuggestion['scopes'][number]) =>
  `${scope} (${countText(uses, 'request')})`;

const unusedText = ({ scope, clientErrors }: ScopeSuggestion['scopes'][number]) =>
  clientErrors === 0 ? scope : `${scope} (${countText(clientErrors, 'client error')})`;

function Warned({ changed, onDone }: { changed: Key; onDone: () => void }) {
  return (
    <Stack>
      <Alert color="orange" title="Saved, but check the networks">
        {warningText(changed)}
      </Alert>
      <Group justify="flex-end">
        <Button onClick={onDone} autoFocus>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
