import type { ButtonProps } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { errorMessage } from '../feedback/error-message';
import { ScopedButton } from '../form/scoped-button';
import { useWebhookRefresh } from './webhook-query';

interface WebhookButtonProps<Result> extends ButtonProps {
  send: () => Promise<Result>;
  /** Is not called if the reader has left the page. */
  onSent?: (result: Result) => void;
  /** The title of a failure: what did not happen. */
  failure: string;
  children: ReactNode;
}

/** A button that changes a webhook or a delivery at once. */
export function WebhookButton<Result>({ send, onSent, failure, ...button }: WebhookButtonProps<Result>) {
  const refresh = useWebhookRefresh();
  const { mutate, isPending } = useMutation({
    mutationFn: send,
    onSuccess: refresh,
    onError: (error) => notifications.show({ color: 'red', title: failure, message: errorMessage(error) }),
  });
  return (
    <ScopedButton
      scope="admin:write"
      variant="default"
      {...button}
      loading={isPending}
      // The second click of a double click would undo the first, or do it twice.
      onClick={({ detail: clicks }) => {
        if (clicks < 2) {
          mutate(undefined, { onSuccess: (result) => onSent?.(result) });
        }
      }}
    />
  );
}
