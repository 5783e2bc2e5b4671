/** The address of the page: the plan that is open, if any. */
export interface PlansSearch {
  plan?: string;
}

/** Returns what the page takes from its address. */
export function plansSearch({ plan }: Record<string, unknown>): PlansSearch {
  return typeof plan === 'string' && plan !== '' ? { plan } : {};
}
