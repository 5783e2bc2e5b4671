import type { components } from './schema.js';

type Schemas = components['schemas'];

/** An animal that the store offers. */
export type Pet = Schemas['Pet'];
/** An animal to add. */
export type NewPet = Schemas['NewPet'];
/** Availability of an animal. */
export type PetStatus = Schemas['PetStatus'];
/** An order of an animal. */
export type Order = Schemas['Order'];
/** An order to place. */
export type NewOrder = Schemas['NewOrder'];
/** How far an order has come. */
export type OrderStatus = Schemas['OrderStatus'];
/** Where a key stands. */
export type RateLimitStanding = Schemas['RateLimitStanding'];
