import { Text } from '@mantine/core';
import type { IssuedFurtherKey, CurrentKey } from 'animal-store-client';
import { DialogForm } from '../form/dialog-form';
import { expiryError, ExpiryFields, toExpiry } from '../form/expiry-fields';
import { useSubmission } from '../form/use-submission';
import { Instant } from '../format/instant';
import { NameInput } from '../keys/dialogs/name-input';
import {
  RestrictionFields,
  restrictionErrors,
  toRestrictions,
  UNRESTRICTED,
} from '../keys/dialogs/restriction-fields';
import { useStore } from '../session/session';
import { issuableScopes } from './team-permission';

interface IssueFurtherKeyFormProps {
  ownKey: CurrentKey;
  onClose: () => void;
  onIssued: (key: IssuedFurtherKey) => void;
}

const NO_RESPONSE =
  'A key may have been issued nevertheless. Look for its name in the list before you issue another, ' +
  'and revoke it there: nobody has seen it.';

/** Asks for a new key on the quota of the signed-in key, within that key's restrictions, and issues it. */
export function IssueFurtherKeyForm({ ownKey, onClose, onIssued }: IssueFurtherKeyFormProps) {
  const store = useStore();
  const choices = issuableScopes(ownKey);
  const { allowedNetworks: ownNetworks, expiresAt: ownExpiry } = ownKey;
  const { form, ...submission } = useSubmission({
    initialValues: { name: '', ...UNRESTRICTED, expires: '', expiresAt: '' },
    validate: (given) => ({ ...restrictionErrors(given, choices), ...expiryError(given) }),
    send: (given): Promise<IssuedFurtherKey> => {
      const { scopes, allowedNetworks } = toRestrictions(given, choices);
      // Omitted fields are those of the signed-in key.
      return store.keys.issue({
        name: given.name,
        ...(scopes !== null && { scopes }),
        ...(allowedNetworks !== null && { allowedNetworks }),
        ...toExpiry(given),
      });
    },
    onSent: onIssued,
  });
  return (
    <DialogForm
      action="Issue key"
      failure="No key was issued"
      noResponse={NO_RESPONSE}
      submission={submission}
      onClose={onClose}
    >
      <NameInput form={form} />
      <RestrictionFields
        form={form}
        choices={choices}
        all="All of your key"
        anywhere={
          ownNetworks === null
            ? 'Leave empty to allow any address.'
            : `Leave empty to allow those of your key: ${ownNetworks.join(', ')}.`
        }
      />
      <ExpiryFields
        form={form}
        label="Expires"
        none={ownExpiry === null ? 'Never' : 'With your key'}
        latest={ownExpiry}
      />
      {ownExpiry !== null && (
        <Text size="sm">
          Your key expires on <Instant at={ownExpiry} />. The new key cannot work longer.
        </Text>
      )}
      <Text size="sm">
        The key shares the plan and the limits of your key, but cannot manage keys. It is shown once.
      </Text>
    </DialogForm>
  );
}
