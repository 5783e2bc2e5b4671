import { ApiParam } from '@nestjs/swagger';

/** Describes the path parameter with the identifier of a quota. */
export const QuotaId = () =>
  ApiParam({
    name: 'quotaId',
    description: 'Identifier of the quota.',
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  });
