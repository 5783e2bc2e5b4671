import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdministratorsOnly } from '../auth/administrators-only.decorator.js';
import { Stability } from '../deprecation/stability.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { Replica, REPLICAS_MAX } from './replica.schemas.js';
import { ReplicaService } from './replica.service.js';

@ApiTags('replicas')
@AdministratorsOnly()
@Controller('/admin/replicas')
export class ReplicasController {
  constructor(private readonly replicas: ReplicaService) {}

  @Get()
  @Stability('stable')
  @ApiOperation({
    summary: 'List replicas',
    description:
      'Returns the replicas that were seen within the last hour, oldest start first. A replica is listed five seconds after its start, ' +
      'writes a heartbeat every five seconds, and is removed when it stops. One that was killed, or cannot write to the database, stays ' +
      'for an hour: `seenAt` has its last heartbeat.',
  })
  @Responses({ status: 200, schema: Replica.array().max(REPLICAS_MAX), description: 'The replicas.' })
  listReplicas(): Promise<Replica[]> {
    return this.replicas.list();
  }
}
