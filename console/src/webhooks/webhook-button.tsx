import { Button, type ButtonProps } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { errorMessage } from '../feedback/error-message';
import { useWebhookRefresh } from './webhook-query';

interface WebhookButtonProps extends ButtonProps {
  send: () => Promise<unknown>;
  onSent?: () => void;
  /** The title of a failure: what did not happen. */
  failure: string;
}

/** A button that changes a webhook or a delivery at once. */
export function WebhookButton({ send, onSent, failure, ...button }: WebhookButtonProps) {
  const refresh = useWebhookRefresh();
  const { mutate, isPending } = useMutation({
    mutationFn: send,
    onSuccess: () => {
      onSent?.();
      refresh();
    },
    onError: (error) => notifications.show({ color: 'red', title: failure, message: errorMessage(error) }),
  });
  return <Button variant="default" {...button} loading={isPending} onClick={() => mutate()} />;
}
