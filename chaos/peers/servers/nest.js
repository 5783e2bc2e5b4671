// @nestjs/throttler as in its README, in memory or in Redis by @nest-lab/throttler-storage-redis. NestJS
// documents its decorators for TypeScript; here they are called as the functions that they are.

import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { seconds, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';

const { PORT, STORE_URL } = process.env;

class PetsController {
  list() {
    return [];
  }
}
const { prototype } = PetsController;
Get()(prototype, 'list', Object.getOwnPropertyDescriptor(prototype, 'list'));
Controller('v1/pets')(PetsController);

class AppModule {}
Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: seconds(60), limit: 60, getTracker: (request) => request.headers.authorization }],
      ...(STORE_URL && { storage: new ThrottlerStorageRedisService(STORE_URL) }),
    }),
  ],
  controllers: [PetsController],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(Number(PORT), '127.0.0.1');
