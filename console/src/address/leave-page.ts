import { notifications } from '@mantine/notifications';
import type { MouseEvent } from 'react';
import { errorMessage } from '../feedback/error-message';
import { reachService } from './reach-service';

/** Follows a link to another page of the service, but stays here if the service does not respond. */
export function leavePage(event: MouseEvent<HTMLAnchorElement>): void {
  const { href } = event.currentTarget;
  if (event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  event.preventDefault();
  void reachService().then(
    () => window.location.assign(href),
    (error: Error) =>
      notifications.show({ color: 'red', title: 'The page was not opened', message: errorMessage(error) }),
  );
}
