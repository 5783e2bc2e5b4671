/** `sessionStorage` is the tab's own. A duplicate of the tab, or the tab reopened, starts with a copy. */
const STORAGE_KEY = 'animal-store-api-key';

/** The key that the browser could not store, because it blocks the data of sites or has no space left. */
let unstored: string | null = null;

/** Returns the API key that this tab keeps; null if there is none. */
export function readKey(): string | null {
  return unstored ?? withStorage((storage) => storage.getItem(STORAGE_KEY));
}

/** Keeps a key, or forgets it. A key that cannot be stored is kept until the page is loaded again. */
export function keepKey(apiKey: string | null): void {
  // Else the key before would be back then.
  withStorage((storage) => storage.removeItem(STORAGE_KEY));
  unstored = apiKey;
  if (apiKey !== null) {
    withStorage((storage) => {
      storage.setItem(STORAGE_KEY, apiKey);
      unstored = null;
    });
  }
}

/** Returns whether the key that is kept was stored too. */
export function isKeyStored(): boolean {
  return unstored === null;
}

/** Returns whether the browser blocks the data of this site. */
export function isStorageBlocked(): boolean {
  return withStorage(() => true) === null;
}

function withStorage<Result>(use: (storage: Storage) => Result): Result | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}
