import { Outlet } from '@tanstack/react-router';
import { ForKeys } from './for-keys';
import { ForScope } from './for-scope';

/** The pages of administrators. */
export function AdministratorsOnly() {
  return (
    <ForKeys title="Administration" isFor={({ role }) => role === 'admin'}>
      {() => (
        <ForScope scope="admin:read" title="Administration">
          <Outlet />
        </ForScope>
      )}
    </ForKeys>
  );
}
