import { Module } from '@nestjs/common';
import { AdminServicesModule } from './keys.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AccountController } from './account.controller.js';
import { OwnKeyRepository } from './own-key.repository.js';

/** What the holder of a key may see of it: the key itself, its usage, and its calls of deprecated operations. */
@Module({
  imports: [UsageModule, AdminServicesModule],
  controllers: [AccountController],
  providers: [OwnKeyRepository],
})
export class AccountModule {}
