import { Module } from '@nestjs/common';
import { UsageModule } from '../../usage/usage.module.js';
import { AccountController } from './account.controller.js';
import { FurtherKeyService } from './further-key.service.js';
import { FurtherKeysController } from './further-keys.controller.js';
import { KeysModule } from '../keys.module.js';

/**
 * What the holder of a key may see and do: the key itself, further keys of its quota, its usage, and its
 * calls of deprecated operations.
 */
@Module({
  imports: [UsageModule, KeysModule],
  controllers: [AccountController, FurtherKeysController],
  providers: [FurtherKeyService],
})
export class AccountModule {}
