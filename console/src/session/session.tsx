import { AnimalStore, AuthenticationError } from 'animal-store-client';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { SERVICE_ROOT } from '../address/service-root';
import { keepKey, readKey } from './kept-key';
import { limitsFirst } from './limits-first';
import { learnServiceTime } from './service-clock';
import { SessionHolds } from './session-holds';

const TIMEOUT_MS = 15_000;
/** A reader who waits longer wants to know what the page waits for. */
const LIMIT_WAIT_MS = 1000;

/** The API key in use, if any, and why the last one is no longer. */
interface Session {
  store: AnimalStore | null;
  apiKey: string | null;
  /** Why the console signed out by itself. */
  endedBecause: string | null;
  signIn: (apiKey: string) => void;
  signOut: () => void;
  /** Puts off the end of the session by a rejected key until the returned function is called. */
  hold: () => () => void;
}

const SessionContext = createContext<Session | null>(null);

/**
 * Returns a client for this key. It sends each request once: the pages say when a limit is reached, instead
 * of waiting.
 */
export function storeFor(apiKey: string): AnimalStore {
  return new AnimalStore({
    baseUrl: `${SERVICE_ROOT}v1`,
    apiKey,
    budget: {
      maxAttempts: 1,
      timeoutMs: TIMEOUT_MS,
      attemptTimeoutMs: TIMEOUT_MS,
      maxRateLimitWaitMs: LIMIT_WAIT_MS,
    },
    fetch: limitsFirst(),
    onDeprecation: () => undefined,
    onResponse: ({ headers }) => learnServiceTime(headers),
  });
}

/** Keeps the API key for the pages, and the responses to it, which go when it goes. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const [apiKey, setApiKey] = useState(readKey);
  const [endedBecause, setEndedBecause] = useState<string | null>(null);
  const end = useCallback((reason: string | null) => {
    keepKey(null);
    setApiKey(null);
    setEndedBecause(reason);
  }, []);
  const { hold, endOrWait, forgetEnd } = useMemo(() => new SessionHolds(end), [end]);
  const queryClient = useMemo(() => queryClientFor(apiKey, endOrWait), [apiKey, endOrWait]);
  const session = useMemo<Session>(
    () => ({
      apiKey,
      store: apiKey === null ? null : storeFor(apiKey),
      endedBecause,
      signIn: (next) => {
        keepKey(next);
        forgetEnd();
        setEndedBecause(null);
        setApiKey(next);
      },
      signOut: () => end(null),
      hold,
    }),
    [apiKey, endedBecause, end, hold, forgetEnd],
  );
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </SessionContext>
  );
}

/** Holds the session while the page shows what would be lost with it. */
export function useSessionHold(isHeld: boolean): void {
  const { hold } = useSession();
  useEffect(() => (isHeld ? hold() : undefined), [hold, isHeld]);
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error('useSession needs a SessionProvider');
  }
  return session;
}

/** Returns the client of the signed-in key. */
export function useStore(): AnimalStore {
  const { store } = useSession();
  if (store === null) {
    throw new Error('useStore needs a signed-in key');
  }
  return store;
}

/** A service on this machine responds offline too, and a change must not wait unseen for the network. */
const SENT_AT_ONCE = { networkMode: 'always' } as const;

/** Each key has a cache of its own, so that no page shows the responses to another. */
function queryClientFor(apiKey: string | null, end: (reason: string) => void): QueryClient {
  const onError = (error: Error) => {
    // A response to the key before must not end the session of the key that replaced it.
    const isCurrent = apiKey !== null && readKey() === apiKey;
    if (isCurrent && error instanceof AuthenticationError) {
      end(`The key ending in ${apiKey.slice(-4)} is no longer valid: ${error.message}`);
    }
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // Every request counts against the key, so nothing is sent again without a reason.
      queries: {
        ...SENT_AT_ONCE,
        retry: false,
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: true,
      },
      mutations: SENT_AT_ONCE,
    },
  });
}
