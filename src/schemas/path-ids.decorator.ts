import { ApiParam } from '@nestjs/swagger';

const id = (name: string, what: string) => () =>
  ApiParam({
    name,
    description: `Identifier of the ${what}.`,
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  });

export const KeyId = id('keyId', 'key');
export const QuotaId = id('quotaId', 'quota');
