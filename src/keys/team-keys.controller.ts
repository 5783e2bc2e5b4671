import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiConflictResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.decorator.js';
import type { Principal } from '../auth/principal.js';
import { respondWithPage } from '../http/respond-with-page.js';
import { Operation } from '../openapi/operation.decorator.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { KeyId } from '../schemas/key-id.decorator.js';
import { VALID_KEYS_MAX } from './key.repository.js';
import { showOnce } from './show-once.js';
import { IssuedTeamKey, NewTeamKey, TeamKey, TeamKeyQuery } from './team-key.schemas.js';
import { TeamKeyService } from './team-key.service.js';

const PATH = '/v1/keys';

@Tag('team', 'Keys for your team, on the quota of your key.')
@Controller(PATH)
export class TeamKeysController {
  constructor(private readonly keys: TeamKeyService) {}

  @Get()
  @Operation(
    'beta',
    'keys:write',
    "List your team's keys",
    'Returns one page of the keys of your quota that holders issued, oldest first, also those that are no ' +
      'longer valid.',
  )
  @PageResponse(TeamKey, 'A page of keys.')
  listTeamKeys(
    @Query({ schema: TeamKeyQuery }) query: TeamKeyQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TeamKey[]> {
    return respondWithPage(reply, this.keys.page(quota.id, query), PATH, query, ({ id }) => id);
  }

  @Post()
  @ApiConflictResponse()
  @Operation(
    'beta',
    'keys:write',
    'Issue a key for your team',
    'Issues a key that shares the quota of your key, and shows it once. What it may do, from where and ' +
      'until when is within what your key may, and never `keys:write`. ' +
      `A quota has up to ${VALID_KEYS_MAX} valid keys. The response is not stored, so \`Idempotency-Key\` ` +
      'is rejected. If you lose it, revoke the key and issue another.',
  )
  @Responses({ status: 201, schema: IssuedTeamKey, description: 'The new key.', headers: ['NoStore'] })
  issueTeamKey(
    @Body({ schema: NewTeamKey }) input: NewTeamKey,
    @CurrentPrincipal() { keyId }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedTeamKey> {
    showOnce(request, reply);
    return this.keys.issue(keyId, input);
  }

  @Post(':keyId/revoke')
  @HttpCode(200)
  @KeyId('keyId')
  @Operation(
    'beta',
    'keys:write',
    'Revoke a key of your team',
    'Revokes a key of your quota that a holder issued, immediately and permanently.',
  )
  @Responses({ status: 200, schema: TeamKey, description: 'The revoked key.' })
  revokeTeamKey(
    @Param('keyId') id: string,
    @CurrentPrincipal() { keyId: actorId, quota }: Principal,
  ): Promise<TeamKey> {
    return this.keys.revoke(id, quota.id, actorId);
  }
}
