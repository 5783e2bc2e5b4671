import { pino } from 'pino';
import { REDACT } from './logger.js';

describe('REDACT', () => {
  const detail = 'Failing row contains (7, whsec_secret).';
  const rejected = Object.assign(new Error('violates check constraint'), { code: '23514', detail });

  it.each([
    ['the driver', rejected],
    ['a cause', new Error('failed', { cause: rejected })],
    [
      'Prisma',
      Object.assign(new Error('Invalid invocation'), {
        meta: { driverAdapterError: { cause: { originalCode: '23514', detail } } },
      }),
    ],
  ])('removes the values of a row from an error of %s, and leaves the rest', (_origin, err) => {
    let line = '';
    pino({ redact: REDACT }, { write: (text) => (line = text) }).error({ err }, 'failed');
    expect(line).toContain(err.message);
    expect(line).toContain('stack');
    expect(line).not.toContain('whsec_secret');
  });
});
