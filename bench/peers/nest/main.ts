// NestJS on Fastify with its stock throttler and Prisma, as in their documentation.
// It counts in memory.

import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Module,
  type OnModuleInit,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { createHash } from 'node:crypto';
import { PetsController, PetsService, PrismaService } from './pets.js';

/** Requests allowed in each window; never reached, as with the service's keys. */
const limit = 1_000_000_000;

/** Authenticates by SHA-256 against all keys, which it keeps in memory. */
@Injectable()
class KeyGuard implements CanActivate, OnModuleInit {
  private hashes = new Set<string>();

  constructor(private readonly prisma: PrismaService) {}

  async onModuleInit(): Promise<void> {
    const keys = await this.prisma.apiKey.findMany({ select: { hash: true } });
    this.hashes = new Set(keys.map(({ hash }) => Buffer.from(hash).toString('base64')));
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: { authorization?: string } }>();
    const [type, key] = request.headers.authorization?.split(' ') ?? [];
    if (type !== 'Bearer' || key === undefined || !this.isValid(key)) {
      throw new UnauthorizedException();
    }
    return true;
  }

  private isValid(key: string): boolean {
    return this.hashes.has(createHash('sha256').update(key).digest('base64'));
  }
}

/** Counts by key rather than by address. */
@Injectable()
class KeyThrottlerGuard extends ThrottlerGuard {
  protected override getTracker(request: { headers: { authorization: string } }): Promise<string> {
    return Promise.resolve(request.headers.authorization);
  }
}

@Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [
        { name: 'default', ttl: 60_000, limit },
        { name: 'day', ttl: 86_400_000, limit },
      ],
    }),
  ],
  controllers: [PetsController],
  providers: [
    PetsService,
    PrismaService,
    { provide: APP_GUARD, useClass: KeyGuard },
    { provide: APP_GUARD, useClass: KeyThrottlerGuard },
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter());
app.useGlobalPipes(new ValidationPipe({ transform: true }));
await app.listen(Number(process.env['PORT']), '127.0.0.1');
