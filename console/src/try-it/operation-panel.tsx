import { Alert, Button, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconSend } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Panel } from '../layout/panel';
import { useSession } from '../session/session';
import { SERVICE_ROOT } from '../address/service-root';
import { BodyInput } from './body-input';
import { ConfirmDialog } from './confirm-dialog';
import { CurlPanel } from './curl-panel';
import { OperationSummary } from './operation-summary';
import { needsConfirmation, type Operation, type ParameterPlace } from './operations';
import { ParameterInput } from './parameter-input';
import { emptyValues, parameterError, prepareRequest, type Values } from './request';
import { ResponsePanel } from './response-panel';
import { send } from './send';
import { suggestionFor } from './suggestions';

const PLACES: { place: ParameterPlace; title: string }[] = [
  { place: 'path', title: 'Path' },
  { place: 'query', title: 'Query' },
  { place: 'header', title: 'Headers' },
];

/** One operation: its form, the request as `curl`, and the response. */
export function OperationPanel({ operation }: { operation: Operation }) {
  const apiKey = useSession().apiKey ?? '';
  const form = useForm<Values>({
    initialValues: emptyValues(operation),
    validate: (values) =>
      Object.fromEntries(
        operation.parameters.map((each) => [
          `${each.place}.${each.name}`,
          parameterError(each, values[each.place][each.name] ?? ''),
        ]),
      ),
  });
  const request = prepareRequest(operation, form.values, SERVICE_ROOT);
  const sending = useSending(operation, apiKey);
  const [isConfirming, confirmation] = useDisclosure(false);
  const submit = form.onSubmit(() =>
    needsConfirmation(operation) ? confirmation.open() : sending.mutate(request),
  );
  return (
    <Stack gap="lg">
      <Panel>
        <Stack gap="lg">
          <OperationSummary operation={operation} />
          <form onSubmit={submit} noValidate>
            <Stack gap="lg">
              {PLACES.map(({ place, title }) => {
                const parameters = operation.parameters.filter((each) => each.place === place);
                return (
                  parameters.length > 0 && (
                    <Stack key={place} gap="sm">
                      <Title order={3}>{title}</Title>
                      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
                        {parameters.map((each) => (
                          <ParameterInput
                            key={each.name}
                            parameter={each}
                            suggestion={suggestionFor(each, sending.data)}
                            field={form.getInputProps(`${place}.${each.name}`)}
                          />
                        ))}
                      </SimpleGrid>
                    </Stack>
                  )
                );
              })}
              {operation.body !== null && <BodyInput field={form.getInputProps('body')} />}
              <div>
                <Button
                  type="submit"
                  loading={sending.isPending}
                  leftSection={<IconSend size={16} aria-hidden />}
                >
                  Send request
                </Button>
              </div>
            </Stack>
          </form>
        </Stack>
      </Panel>
      <CurlPanel request={request} apiKey={apiKey} />
      {sending.error !== null && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="There is no response" role="alert">
          <Text size="sm">
            {sending.error.name === 'TimeoutError'
              ? 'The service did not respond within 30 seconds. The request may have been carried out.'
              : 'The service did not respond. Check the connection and send the request again.'}
          </Text>
        </Alert>
      )}
      {sending.data !== undefined && <ResponsePanel operation={operation} response={sending.data} />}
      <ConfirmDialog
        operation={operation}
        request={request}
        opened={isConfirming}
        onClose={confirmation.close}
        onConfirm={() => (confirmation.close(), sending.mutate(request))}
      />
    </Stack>
  );
}

/** Sends requests of an operation. The last response stays only as long as it is shown, because it may contain a key. */
function useSending({ method }: Operation, apiKey: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (request: Parameters<typeof send>[0]) => send(request, apiKey),
    gcTime: 0,
    onSuccess: ({ status }) => {
      if (method !== 'GET' && status < 300) {
        // Any page may show what changed. It loads again when it is opened next, so that this costs no request now.
        void queryClient.invalidateQueries({
          predicate: ({ queryKey }) => queryKey[0] !== 'operations',
          refetchType: 'none',
        });
      }
    },
  });
}
