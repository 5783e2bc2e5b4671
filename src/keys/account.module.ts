import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { AccountController } from './account.controller.js';
import { KeysModule } from './keys.module.js';
import { OwnKeyRepository } from './own-key.repository.js';
import { TeamKeyService } from './team-key.service.js';
import { TeamKeysController } from './team-keys.controller.js';

/**
 * What the holder of a key may see and do: the key itself, further keys of its quota, its usage, and its
 * calls of deprecated operations.
 */
@Module({
  imports: [UsageModule, KeysModule],
  controllers: [AccountController, TeamKeysController],
  providers: [OwnKeyRepository, TeamKeyService],
})
export class AccountModule {}
