import { Module } from '@nestjs/common';
import { OperationRegistry } from './operation-registry.js';

/** The declarations of all operations. */
@Module({
  providers: [OperationRegistry],
  exports: [OperationRegistry],
})
export class DeprecationModule {}
