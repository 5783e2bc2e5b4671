import { Body, Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConflictResponse, ApiNotFoundResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.js';
import { CurrentActor } from '../audit/current-actor.decorator.js';
import { AdminRead, AdminWrite } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { KeyId } from '../schemas/path-ids.decorator.js';
import {
  CreateKeyInput,
  IssuedKey,
  Key,
  KeyWithUsage,
  RevokeLeakedKeyInput,
  KeySuccessor,
  RotateKeyInput,
  UpdateKeyInput,
} from './key.schemas.js';
import { keyPositionText, KeyQuery } from './key-query.schemas.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';
import { KeysTag } from './keys-tag.decorator.js';
import { untrustedProxyWarning } from './warnings.js';

const PATH = '/admin/keys';

@KeysTag()
@Controller(PATH)
export class KeysController {
  constructor(
    private readonly keys: KeyService,
    private readonly reader: KeyReader,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'TRUST_PROXY'>,
  ) {}

  @Get()
  @AdminRead({
    summary: 'List keys',
    description:
      'Returns one page of the keys with their usage, oldest first unless `sort` has another order.',
  })
  @PageResponse(KeyWithUsage, 'A page of keys.', 'X-Total-Count')
  listKeys(
    @Query({ schema: KeyQuery }) query: KeyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyWithUsage[]> {
    return respondWithPage(reply, this.reader.page(query), PATH, query, keyPositionText);
  }

  @Post()
  @ApiConflictResponse()
  @AdminWrite({
    summary: 'Issue a key',
    description:
      'Issues a key, with a new quota or on an existing one. The response shows the key, which is ' +
      'not shown again.',
  })
  @Responses({
    status: 201,
    schema: IssuedKey,
    description: 'The new key.',
    headers: ['Location', 'NoStore'],
  })
  async issueKey(
    @Body({ schema: CreateKeyInput }) input: CreateKeyInput,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    const issued = await this.keys.issue(input, actor);
    return withIssuedHeaders(this.withNetworkWarning(issued, input, request), reply);
  }

  @Get(':keyId')
  @KeyId()
  @AdminRead({
    summary: 'Get a key',
    description: 'Returns everything about a key, and its usage, except the key itself.',
  })
  @Responses({ status: 200, schema: KeyWithUsage, description: 'The key.' })
  getKey(@Param('keyId') keyId: string): Promise<KeyWithUsage> {
    return this.reader.find(keyId);
  }

  @Patch(':keyId')
  @ApiConflictResponse()
  @KeyId()
  @AdminWrite({
    summary: 'Update a key',
    description:
      'Changes the name of a key, the note on it, what it may do, and from which networks, and suspends or ' +
      'resumes it. What the body leaves out stays, and null removes the note or a restriction. It applies ' +
      'on every replica within a second. The plan and the limits are those of its quota. A restriction ' +
      'also applies to keys that holders issued by it or its predecessors; lifting it does not. A ' +
      'suspension applies to this key alone.',
  })
  @Responses({ status: 200, schema: Key, description: 'The changed key.' })
  async updateKey(
    @Param('keyId') keyId: string,
    @Body({ schema: UpdateKeyInput }) input: UpdateKeyInput,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
  ): Promise<Key> {
    return this.withNetworkWarning(await this.keys.update(keyId, input, actor), input, request);
  }

  @Post(':keyId/rotate')
  @ApiBody({ required: false })
  @ApiConflictResponse()
  @KeyId()
  @AdminWrite({
    summary: 'Rotate a key',
    description:
      'Issues a successor on the same quota. Both keys work until the overlap ends. Meanwhile, a repeated ' +
      'request replaces a successor that was never used; once it was used, it fails (409).',
  })
  @Responses({
    status: 201,
    schema: KeySuccessor,
    description: 'The successor.',
    headers: ['Location', 'NoStore'],
  })
  async rotateKey(
    @Param('keyId') keyId: string,
    @Body({ schema: RotateKeyInput.prefault({}) }) input: RotateKeyInput,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeySuccessor> {
    return withIssuedHeaders(await this.keys.rotate(keyId, input, actor), reply);
  }

  @Post(':keyId/revoke')
  @HttpCode(200)
  @KeyId()
  @AdminWrite({
    summary: 'Revoke a key',
    description: 'Revokes the key immediately and permanently.',
  })
  @Responses({ status: 200, schema: Key, description: 'The revoked key.' })
  revokeKey(@Param('keyId') keyId: string, @CurrentActor() actor: Actor): Promise<Key> {
    return this.keys.revoke(keyId, actor);
  }

  @Post('revoke')
  @HttpCode(200)
  @ApiNotFoundResponse()
  @AdminWrite({
    summary: 'Revoke a leaked key',
    description:
      'Revokes a key by the key itself instead of its id, with its successors and the keys that holders ' +
      'issued by any of them, immediately and permanently.',
  })
  @Responses({ status: 200, schema: Key, description: 'The revoked key.' })
  async revokeLeakedKey(
    @Body({ schema: RevokeLeakedKeyInput }) { key }: RevokeLeakedKeyInput,
    @CurrentActor() actor: Actor,
  ): Promise<Key> {
    return this.keys.revoke(await this.keys.findId(key), actor, { withDerived: true });
  }

  private withNetworkWarning<Shown extends Key>(
    key: Shown,
    { allowedNetworks }: Pick<UpdateKeyInput, 'allowedNetworks'>,
    { headers, ip }: FastifyRequest,
  ): Shown {
    const isForwarded = 'x-forwarded-for' in headers && this.environment.TRUST_PROXY === undefined;
    const hasNetworks =
      allowedNetworks !== undefined && allowedNetworks !== null && allowedNetworks.length > 0;
    return isForwarded && hasNetworks
      ? { ...key, warnings: [...key.warnings, untrustedProxyWarning(ip)] }
      : key;
  }
}

function withIssuedHeaders<Issued extends IssuedKey>(issued: Issued, reply: FastifyReply): Issued {
  reply.headers({ Location: `${PATH}/${issued.id}`, 'Cache-Control': 'no-store' });
  return issued;
}
