export {
  AnimalStore,
  type AnimalStoreOptions,
  type CallOptions,
  type CreateOptions,
  type OrderQuery,
  type PetQuery,
} from './animal-store.js';
export { AnimalStoreError } from './error.js';
export type { Page } from './pages.js';
export type { Platform } from './platform.js';
export type { NewOrder, NewPet, Order, OrderStatus, Pet, PetStatus, RateLimitStanding } from './resources.js';
export type { Budget } from './retry.js';
