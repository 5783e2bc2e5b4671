import type { INestApplicationContext } from '@nestjs/common';
import { isUuid } from '../../schemas/uuid.js';
import { KeyLookup } from '../../admin/key-lookup.service.js';
import { idTexts } from './key-id.js';

/** The texts for keys, by their ids. */
export interface KeyTexts {
  /** Null for a key that was deleted by hand. */
  nameOf: (id: string) => string | null;
  idText: (id: string) => string;
}

/** Returns the texts for the keys among these ids. */
export async function keyTexts(services: INestApplicationContext, ids: string[]): Promise<KeyTexts> {
  const keyIds = ids.filter(isUuid);
  const names = await services.get(KeyLookup).namesOf(keyIds);
  const idText = await idTexts(services, keyIds);
  return { nameOf: (id) => names.get(id) ?? null, idText };
}
