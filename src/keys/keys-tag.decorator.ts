import { Tag } from '../openapi/tag.decorator.js';

/** Gives the operations of a controller the tag of keys, which both documents have. */
export const KeysTag = () => Tag('keys', 'API keys: what they may do, and issuing and revoking them.');
