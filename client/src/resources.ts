import type { components as adminComponents } from './admin-schema.js';
import type { components } from './schema.js';

type Schemas = components['schemas'];
type AdminSchemas = adminComponents['schemas'];

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
/** Progress of an order. */
export type OrderStatus = Schemas['OrderStatus'];
/** The plan, windows and ban of a key. */
export type RateLimitStatus = Schemas['RateLimitStanding'];
/** @deprecated Use `RateLimitStatus`. */
export type RateLimitStanding = RateLimitStatus;
/** The key of a client, as its holder may see it. */
export type OwnKey = Schemas['OwnKey'];
/** Requests in a period. */
export type UsageTotals = Schemas['UsageTotals'];
/** Calls of a deprecated operation by the keys of a quota. */
export type OwnDeprecatedCalls = Schemas['OwnDeprecatedCalls'];

/** An API key, without the key itself. */
export type Key = AdminSchemas['Key'];
/** A key with its last request and its requests in the last 24 hours. */
export type KeyWithUsage = AdminSchemas['KeyWithUsage'];
/** A key that was just issued, with the key itself. */
export type IssuedKey = AdminSchemas['IssuedKey'];
/** A key to issue. */
export type KeyInput = AdminSchemas['KeyOrder'];
/** The name of a key, and the note of administrators on it. */
export type KeyLabel = AdminSchemas['KeyLabel'];
/** The plan, and limits of its own, for the quota of a key. */
export type PlanChange = AdminSchemas['PlanChange'];
/** How a key is rotated. */
export type Rotation = AdminSchemas['Rotation'];
/** A plan and its limits. */
export type Plan = AdminSchemas['Plan'];
/** The limits of a plan. */
export type PlanLimits = AdminSchemas['PlanLimits'];
/** Requests of a key for an operation in a period. */
export type Usage = AdminSchemas['Usage'];
/** Requests of a key in a range of time. */
export type KeyUsage = AdminSchemas['KeyUsage'];
/** Requests for an operation in a range of time. */
export type OperationUsage = AdminSchemas['OperationUsage'];
/** Requests of a key for a deprecated operation. */
export type DeprecatedCalls = AdminSchemas['DeprecatedCalls'];
/** An audit event. */
export type AuditEvent = AdminSchemas['AuditEvent'];
/** The health of a replica. */
export type Health = AdminSchemas['Health'];
