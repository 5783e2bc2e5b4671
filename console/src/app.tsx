import { RouterProvider } from '@tanstack/react-router';
import { router } from './routes';

/** The pages of a signed-in key. */
export function App() {
  return <RouterProvider router={router} />;
}
