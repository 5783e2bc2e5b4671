import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { KeyGuard } from './key.guard.js';
import { KeyThrottlerGuard } from './key-throttler.guard.js';
import { PetsController } from './pets.controller.js';
import { PetsService } from './pets.service.js';
import { PrismaService } from './prisma.service.js';

/** Never reached, as the service's are not. */
const limit = 1_000_000_000;

@Module({
  imports: [
    ThrottlerModule.forRoot([
      { name: 'default', ttl: 60_000, limit },
      { name: 'day', ttl: 86_400_000, limit },
    ]),
  ],
  controllers: [PetsController],
  providers: [
    PetsService,
    PrismaService,
    { provide: APP_GUARD, useClass: KeyGuard },
    { provide: APP_GUARD, useClass: KeyThrottlerGuard },
  ],
})
export class AppModule {}
