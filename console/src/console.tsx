import { App } from './app';
import { useSession } from './session/session';
import { SignInPage } from './session/sign-in.page';

/**
 * The pages of the signed-in key, or the sign-in page. The address stays, so that signing in leads to the
 * page that was opened.
 */
export function Console() {
  const { store, apiKey } = useSession();
  return store === null ? (
    <SignInPage />
  ) : (
    // Mounts again for another key, because queries keep the cache that they were mounted with.
    <App key={apiKey} />
  );
}
