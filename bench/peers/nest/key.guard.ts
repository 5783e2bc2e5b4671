import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type OnModuleInit,
  UnauthorizedException,
} from '@nestjs/common';
import { createHash } from 'node:crypto';
import { PrismaService } from './prisma.service.js';

/** Lets in who has a key. All of them are kept in memory, by SHA-256. */
@Injectable()
export class KeyGuard implements CanActivate, OnModuleInit {
  private hashes = new Set<string>();

  constructor(private readonly prisma: PrismaService) {}

  async onModuleInit(): Promise<void> {
    const keys = await this.prisma.apiKey.findMany({ select: { hash: true } });
    this.hashes = new Set(keys.map(({ hash }) => Buffer.from(hash).toString('base64')));
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: { authorization?: string } }>();
    const [type, key] = request.headers.authorization?.split(' ') ?? [];
    if (type !== 'Bearer' || key === undefined || !this.knows(key)) {
      throw new UnauthorizedException();
    }
    return true;
  }

  private knows(key: string): boolean {
    return this.hashes.has(createHash('sha256').update(key).digest('base64'));
  }
}
