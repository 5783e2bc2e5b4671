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
import { AuthenticationError, RateLimitError } from 'animal-store-client';
import icon from '../icon.svg';
import { messageOf } from '../feedback/error-message';
import { storeFor, useSession } from './session';

/** Asks for an API key, and checks it with the one request that counts against no limit. */
export function SignInPage() {
  const { endedBecause, signIn } = useSession();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { apiKey: '' },
    validate: { apiKey: (value) => (value.trim() === '' ? 'Enter an API key' : null) },
  });
  const check = useMutation({
    mutationFn: async (apiKey: string) => {
      await storeFor(apiKey).getRateLimit();
      return apiKey;
    },
    // The cache must not keep the key.
    gcTime: 0,
    onSuccess: signIn,
    onError: (error) => form.setFieldError('apiKey', explain(error)),
  });
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
          <Text c="dimmed">With an API key. It stays in this tab and is forgotten when the tab closes.</Text>
        </Stack>
        {endedBecause !== null && (
          <Alert color="orange" title="Signed out" role="status">
            {endedBecause}
          </Alert>
        )}
        <form onSubmit={form.onSubmit(({ apiKey }) => check.mutate(apiKey.trim()))} noValidate>
          <Stack>
            <PasswordInput
              key={form.key('apiKey')}
              {...form.getInputProps('apiKey')}
              label="API key"
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
        <Text size="sm" c="dimmed">
          An administrator of the store issues keys. How to use one is in the{' '}
          <Anchor href="/docs" inherit>
            API reference
          </Anchor>
          .
        </Text>
      </Stack>
    </Center>
  );
}

function explain(error: Error): string {
  if (error instanceof AuthenticationError) {
    return 'This key is not valid here. It may be mistyped, expired, revoked, or of the other environment.';
  }
  if (error instanceof RateLimitError) {
    return `Too many attempts. Wait ${Math.ceil((error.retryAfterMs ?? 60_000) / 1000)} seconds and try again.`;
  }
  return messageOf(error);
}
