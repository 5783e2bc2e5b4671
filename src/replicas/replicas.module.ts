import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { ReplicaHeartbeat } from './replica.heartbeat.js';

@Module({ imports: [RateLimitModule], providers: [ReplicaHeartbeat] })
export class ReplicasModule {}
