import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { AccountController } from './account.controller.js';
import { KeysModule } from './keys.module.js';
import { OwnKeyRepository } from './own-key.repository.js';

/**
 * What the holder of a key may see of it: the key itself, its usage, and its calls of deprecated operations.
 */
@Module({
  imports: [UsageModule, KeysModule],
  controllers: [AccountController],
  providers: [OwnKeyRepository],
})
export class AccountModule {}
