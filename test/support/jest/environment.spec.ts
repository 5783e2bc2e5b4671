import { createRequire } from 'node:module';
import { Logger } from '@nestjs/common';
import { z } from 'zod';

// By Node itself, as Jest loads it.
const TestEnvironment = createRequire(import.meta.url)('./environment.cjs') as new (given: object) => {
  teardown(): Promise<void>;
};

describe('the environment of a test file', () => {
  it('keeps neither a named schema nor a silenced logger for the next file of its process', async () => {
    const environment = new TestEnvironment({ projectConfig: {} });
    const log = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      z.string().meta({ id: 'OfThisFile' });
      Logger.overrideLogger(false);
      await environment.teardown();
      expect(z.toJSONSchema(z.globalRegistry).schemas).toEqual({});
      Logger.log('heard');
      expect(log.mock.calls.join()).toContain('heard');
    } finally {
      log.mockRestore();
    }
  });
});
