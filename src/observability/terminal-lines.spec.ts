import { prettyFactory } from 'pino-pretty';
import { TERMINAL_FORMAT } from './terminal-lines.js';

const print = prettyFactory({ ...TERMINAL_FORMAT, translateTime: 'UTC:HH:MM:ss.l', colorize: false });
const time = '2026-11-21T12:00:00.123Z';

describe('TERMINAL_FORMAT', () => {
  it('prints one line for a request', () => {
    const line = {
      level: 'info',
      time,
      requestId: 'e6a0',
      method: 'GET',
      path: '/v1/pets',
      operation: 'listPets',
      status: 429,
      durationMs: 3.1,
      decision: 'denied',
      window: 'minute',
      limit: 60,
      remaining: 0,
      plan: 'free',
      keyId: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11',
      quotaId: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a12',
      clientAddress: '127.0.0.1',
      userAgent: 'curl/8.5.0',
      msg: 'request',
    };
    expect(print(line)).toBe(
      '[12:00:00.123] INFO: request GET /v1/pets 429 in 3.1 ms denied 0 of 60 a minute left plan free ' +
        'key 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11\n',
    );
  });

  it('prints only the fields that a request without limits and key has', () => {
    const line = {
      level: 'info',
      time,
      method: 'GET',
      path: '/livez',
      status: 200,
      durationMs: 1,
      msg: 'request',
    };
    expect(print(line)).toBe('[12:00:00.123] INFO: request GET /livez 200 in 1 ms\n');
  });

  it('prints other lines with their fields', () => {
    expect(print({ level: 'warn', time, msg: 'Not ready', context: 'Readiness' })).toBe(
      '[12:00:00.123] WARN: Not ready {"context":"Readiness"}\n',
    );
  });
});
