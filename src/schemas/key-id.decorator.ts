import { ApiParam } from '@nestjs/swagger';

/** Describes the path parameter with the identifier of a key. */
export const KeyId = () =>
  ApiParam({
    name: 'keyId',
    description: 'Identifier of the key.',
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  });
