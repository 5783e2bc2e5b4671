import { lazyRouteComponent } from '@tanstack/react-router';
import { reachService } from '../address/reach-service';

/**
 * Returns a component whose code is loaded when it is first shown. The router loads the whole page again if
 * that fails, such as after an update of the service. If the service does not respond, the page stays.
 */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, () => React.ReactNode>>,
  name: Name,
) {
  return lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        await reachService();
        throw error;
      }),
    name,
  );
}
