import { ApiParam } from '@nestjs/swagger';

/** Describes the path parameter `id` of a key. */
export const KeyId = () =>
  ApiParam({
    name: 'id',
    description: 'Identifier of the key.',
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  });
