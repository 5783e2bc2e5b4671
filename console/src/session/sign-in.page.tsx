import {
  Alert,
  Anchor,
  Button,
  Center,
  Group,
  Image,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { AuthenticationError } from 'animal-store-client';
import icon from '../icon.svg';
import { FormError } from '../feedback/form-error';
import { leavePage } from '../address/leave-page';
import { SERVICE_ROOT } from '../address/service-root';
import { isStorageBlocked } from './kept-key';
import { storeFor, useSession } from './session';

/** Asks for an API key, and checks it with the one request that counts against no limit. */
export function SignInPage() {
  const { endedBecause } = useSession();
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w="100%" maw={400} gap="lg">
        <Group gap="sm">
          <Image src={icon} alt="" w={40} h={40} />
          <Text fw={650} size="lg">
            Animal Store
          </Text>
        </Group>
        <Stack gap={4}>
          <Title order={1}>Sign in to the console</Title>
          <Text c="dimmed">
            {isStorageBlocked()
              ? 'Enter an API key. It is kept until you sign out, or close or reload the tab: your browser ' +
                'stores nothing for this site.'
              : 'Enter an API key. It is kept in this tab until you sign out or close the tab.'}
          </Text>
        </Stack>
        {endedBecause !== null && (
          <Alert color="orange" title="Signed out" role="status">
            {endedBecause}
          </Alert>
        )}
        <KeyForm />
        <Text size="sm" c="dimmed">
          Ask an administrator of the store for a key. The{' '}
          <Anchor href={`${SERVICE_ROOT}docs`} onClick={leavePage} inherit>
            API reference
          </Anchor>{' '}
          explains how to use it.
        </Text>
      </Stack>
    </Center>
  );
}

function KeyForm() {
  const { signIn } = useSession();
  const form = useForm({
    // React would mirror a controlled value, which is a key, into the markup of the page.
    mode: 'uncontrolled',
    initialValues: { apiKey: '' },
    validate: { apiKey: (value) => (value.trim() === '' ? 'Enter an API key' : null) },
  });
  const check = useMutation({
    mutationFn: async (apiKey: string) => {
      await storeFor(apiKey).rateLimit.get();
      return apiKey;
    },
    // The cache must not keep the key.
    gcTime: 0,
    onSuccess: signIn,
    onError: (error) => {
      if (error instanceof AuthenticationError) {
        form.setFieldError('apiKey', error.message);
        focusKey();
      }
    },
  });
  const focusKey = () => form.getInputNode('apiKey')?.focus();
  return (
    <form onSubmit={form.onSubmit(({ apiKey }) => check.mutate(apiKey.trim()), focusKey)} noValidate>
      <Stack>
        {check.error !== null && !(check.error instanceof AuthenticationError) && (
          <FormError
            error={check.error}
            title="You are not signed in"
            noResponse="The service did not respond. Check the connection and try again."
          />
        )}
        <PasswordInput
          key={form.key('apiKey')}
          {...form.getInputProps('apiKey')}
          label="API key"
          // The field may have the focus already, so that moving it there would announce nothing.
          errorProps={{ role: 'alert' }}
          placeholder="ask_live_… or ask_test_…"
          size="md"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          autoFocus
        />
        <Button type="submit" size="md" loading={check.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
