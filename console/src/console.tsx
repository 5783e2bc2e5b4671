import { RouterProvider } from '@tanstack/react-router';
import { router } from './routes';
import { SignInPage } from './session/sign-in.page';
import { useSession } from './session/session';

/** The pages of the signed-in key, or the sign-in page. The address stays, so that signing in leads to the page that was opened. */
export function Console() {
  const { store } = useSession();
  return store === null ? <SignInPage /> : <RouterProvider router={router} />;
}
