import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { UsageRepository } from './usage.repository.js';

const SWEEP_INTERVAL_MS = 60_000;

/** Has old usage removed from time to time. */
@Injectable()
export class UsageSweeper implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageSweeper.name);
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private underWay: Promise<void> | null = null;

  constructor(private readonly repository: UsageRepository) {}

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.underWay ??= this.sweep().finally(() => {
        this.underWay = null;
      });
    }, SWEEP_INTERVAL_MS).unref();
  }

  /** A statement after Prisma is disconnected would connect it again. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.ended = true;
    await this.underWay;
  }

  private async sweep(): Promise<void> {
    try {
      let more = true;
      while (more && !this.ended) {
        more = await this.repository.sweep();
      }
    } catch (error) {
      this.logger.warn(`Old usage was not removed: ${databaseReason(error)}`);
    }
  }
}
