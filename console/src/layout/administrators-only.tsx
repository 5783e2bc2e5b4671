import { Outlet } from '@tanstack/react-router';
import { ForKeys } from './for-keys';

/** The pages of administrators. */
export function AdministratorsOnly() {
  return (
    <ForKeys title="Administration" isFor={({ role }) => role === 'admin'}>
      {() => <Outlet />}
    </ForKeys>
  );
}
