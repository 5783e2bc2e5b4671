import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiConflictResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../../auth/current-principal.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { respondWithPage } from '../../http/responses/respond-with-page.js';
import { Operation } from '../../openapi/operation.decorator.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import { HasOwnLimit, REVOCATION_LIMIT } from '../../rate-limit/own-limit.decorator.js';
import type { PageQuery } from '../../schemas/uuid.js';
import { KeyId } from '../../schemas/path-ids.decorator.js';
import type { IssuedKey, KeyWithUsage } from '../key.schemas.js';
import { KeyReader } from '../key-reader.service.js';
import { VALID_KEYS_MAX } from '../key.repository.js';
import { KeysTag } from '../keys-tag.decorator.js';
import { leaveUnstored } from './leave-unstored.js';
import { FurtherKey, FurtherKeyQuery, IssuedFurtherKey, NewFurtherKey } from './further-key.schemas.js';
import { FurtherKeyService } from './further-key.service.js';

const PATH = '/v1/keys';

@KeysTag()
@Controller(PATH)
export class FurtherKeysController {
  constructor(
    private readonly keys: FurtherKeyService,
    private readonly reader: KeyReader,
  ) {}

  @Get()
  @Operation({
    stability: 'beta',
    scope: 'keys:write',
    summary: 'List issued keys',
    description:
      'Returns one page of the keys of your quota that holders issued, oldest first, even if they are no ' +
      'longer valid.',
  })
  @PageResponse(FurtherKey, 'A page of keys.')
  listFurtherKeys(
    @Query({ schema: FurtherKeyQuery }) query: PageQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyWithUsage[]> {
    return respondWithPage(reply, this.reader.issuedPage(quota.id, query), PATH, query, ({ id }) => id);
  }

  @Post()
  @ApiConflictResponse()
  @Operation({
    stability: 'beta',
    scope: 'keys:write',
    summary: 'Issue a further key',
    description:
      'Issues a key that shares the quota of your key, and shows it once. What it may do, from where and ' +
      'until when is within what your key may, and never `keys:write`. ' +
      `A quota has up to ${VALID_KEYS_MAX} valid keys. The response is not stored, so \`Idempotency-Key\` ` +
      'is rejected. If you lose it, revoke the key and issue another.',
  })
  @Responses({ status: 201, schema: IssuedFurtherKey, description: 'The new key.', headers: ['NoStore'] })
  issueFurtherKey(
    @Body({ schema: NewFurtherKey }) input: NewFurtherKey,
    @CurrentPrincipal() { keyId }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    leaveUnstored(request, reply);
    return this.keys.issue(keyId, input);
  }

  @Post(':keyId/revoke')
  @HasOwnLimit(REVOCATION_LIMIT)
  @HttpCode(200)
  @KeyId()
  @Operation({
    stability: 'beta',
    scope: 'keys:write',
    summary: 'Revoke an issued key',
    description:
      'Revokes a key of your quota that a holder issued, immediately and permanently, and so its ' +
      'successors, and what was issued by any of them, even if the key itself has ended. ' +
      'It works while the quota is banned, takes nothing from the windows, and has a limit of its own: ' +
      `${REVOCATION_LIMIT.perMinute} requests a minute for each key and address.`,
  })
  @Responses({ status: 200, schema: FurtherKey, description: 'The revoked key.' })
  revokeFurtherKey(
    @Param('keyId') id: string,
    @CurrentPrincipal() { keyId: actorId, quota }: Principal,
  ): Promise<KeyWithUsage> {
    return this.keys.revoke(id, quota.id, actorId);
  }
}
