import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiBody, ApiConflictResponse, ApiNotFoundResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.decorator.js';
import { Operation } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/respond-with-page.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import type { Principal } from '../auth/principal.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { RateLimitStatus } from '../rate-limit/rate-limit-status.schema.js';
import { KeyId } from '../schemas/key-id.decorator.js';
import {
  ChangePlanInput,
  CreateKeyInput,
  IssuedKey,
  Key,
  KeyWithUsage,
  LabelKeyInput,
  RestrictKeyInput,
  RevokeLeakedKeyInput,
  RotateKeyInput,
} from './key.schemas.js';
import { keyPositionText, KeyQuery } from './key-query.schemas.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';

const PATH = '/admin/keys';

@Tag('keys', 'API keys: issue, rotate and revoke them, change their plan, lift a ban.')
@Controller(PATH)
export class KeysController {
  constructor(
    private readonly keys: KeyService,
    private readonly reader: KeyReader,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'TRUST_PROXY'>,
  ) {}

  @Get()
  @Operation(
    'stable',
    'admin:read',
    'List keys',
    'Returns one page of the keys with their usage, oldest first unless `sort` has another order.',
  )
  @PageResponse(KeyWithUsage, 'A page of keys.', 'X-Total-Count')
  listKeys(
    @Query({ schema: KeyQuery }) query: KeyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyWithUsage[]> {
    return respondWithPage(reply, this.reader.page(query), PATH, query, keyPositionText);
  }

  @Post()
  @ApiConflictResponse()
  @Operation(
    'stable',
    'admin:write',
    'Issue a key',
    'Issues a key, with a quota of its own or on that of another key. The response shows the key, which is ' +
      'not shown again.',
  )
  @Responses({
    status: 201,
    schema: IssuedKey,
    description: 'The new key.',
    headers: ['Location', 'NoStore'],
  })
  async issueKey(
    @Body({ schema: CreateKeyInput }) input: CreateKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    const issued = await this.keys.issue(input, actor);
    return shownOnce({ ...issued, ...this.networkWarning(input, request) }, reply);
  }

  @Get(':id')
  @KeyId()
  @Operation(
    'stable',
    'admin:read',
    'Get a key',
    'Returns everything about a key, and its usage, except the key itself.',
  )
  @Responses({ status: 200, schema: KeyWithUsage, description: 'The key.' })
  getKey(@Param('id') id: string): Promise<KeyWithUsage> {
    return this.reader.find(id);
  }

  @Patch(':id')
  @KeyId()
  @Operation(
    'stable',
    'admin:write',
    "Change a key's plan",
    'Puts the quota of the key on a plan, with the given limits or those of the plan.',
  )
  @Responses({ status: 200, schema: Key, description: 'The changed key.' })
  changePlan(
    @Param('id') id: string,
    @Body({ schema: ChangePlanInput }) input: ChangePlanInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.changePlan(id, input, actor);
  }

  @Put(':id/label')
  @KeyId()
  @Operation(
    'stable',
    'admin:write',
    'Label a key',
    'Sets the name of the key and the note of administrators on it.',
  )
  @Responses({ status: 200, schema: Key, description: 'The changed key.' })
  labelKey(
    @Param('id') id: string,
    @Body({ schema: LabelKeyInput }) { name, note }: LabelKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.label(id, { name, note: note ?? null }, actor);
  }

  @Patch(':id/restrictions')
  @KeyId()
  @Operation(
    'stable',
    'admin:write',
    'Restrict a key',
    'Changes what the key may do, and from which networks. It holds on every replica within a second.',
  )
  @Responses({ status: 200, schema: Key, description: 'The changed key.' })
  async restrictKey(
    @Param('id') id: string,
    @Body({ schema: RestrictKeyInput }) input: RestrictKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
    @Req() request: FastifyRequest,
  ): Promise<Key> {
    const key = await this.keys.restrict(id, input, actor);
    return { ...key, ...this.networkWarning(input, request) };
  }

  @Post(':id/rotate')
  @ApiBody({ required: false })
  @ApiConflictResponse()
  @KeyId()
  @Operation(
    'stable',
    'admin:write',
    'Rotate a key',
    'Issues a successor on the same quota. Both keys work until the overlap ends.',
  )
  @Responses({
    status: 201,
    schema: IssuedKey,
    description: 'The successor.',
    headers: ['Location', 'NoStore'],
  })
  async rotateKey(
    @Param('id') id: string,
    @Body({ schema: RotateKeyInput.prefault({}) }) input: RotateKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    return shownOnce(await this.keys.rotate(id, input, actor), reply);
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @KeyId()
  @Operation('stable', 'admin:write', 'Revoke a key', 'Revokes the key immediately and permanently.')
  @Responses({ status: 200, schema: Key, description: 'The revoked key.' })
  revokeKey(@Param('id') id: string, @CurrentPrincipal() { keyId: actor }: Principal): Promise<Key> {
    return this.keys.revoke(id, actor);
  }

  @Post('revoke')
  @HttpCode(200)
  @ApiNotFoundResponse()
  @Operation(
    'stable',
    'admin:write',
    'Revoke a leaked key',
    'Revokes a key of which you have only the key itself, its successors, and the keys that holders issued ' +
      'by any of them, immediately and permanently.',
  )
  @Responses({ status: 200, schema: Key, description: 'The revoked key.' })
  revokeLeakedKey(
    @Body({ schema: RevokeLeakedKeyInput }) { key }: RevokeLeakedKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.revokeLeaked(key, actor);
  }

  @Post(':id/unban')
  @HttpCode(200)
  @KeyId()
  @Operation('stable', 'admin:write', 'Lift a ban', "Ends the ban of the key's quota, if there is one.")
  @Responses({ status: 200, schema: Key, description: 'The key, without a ban.' })
  unbanKey(@Param('id') id: string, @CurrentPrincipal() { keyId: actor }: Principal): Promise<Key> {
    return this.keys.unban(id, actor);
  }

  @Get(':id/rate-limit')
  @KeyId()
  @Operation(
    'stable',
    'admin:read',
    'Get the rate-limit status of a key',
    "Returns the windows of the key's quota and its ban, if any, also if the key is no longer valid. " +
      'It takes nothing from the windows.',
  )
  @Responses({ status: 200, schema: RateLimitStatus, description: 'The rate-limit status of the key.' })
  getKeyRateLimit(@Param('id') id: string): Promise<RateLimitStatus> {
    return this.reader.findRateLimit(id);
  }

  /** Returns a warning if networks are set behind a proxy that is not trusted. */
  private networkWarning({ allowedNetworks = [] }: RestrictKeyInput, { headers, ip }: FastifyRequest) {
    const isForwarded = 'x-forwarded-for' in headers && this.environment.TRUST_PROXY === undefined;
    const warning =
      'Requests carry X-Forwarded-For, but TRUST_PROXY is not set, so every client has the address of ' +
      `the proxy, here ${ip}.`;
    return allowedNetworks.length > 0 && isForwarded ? { warning } : {};
  }
}

function shownOnce(issued: IssuedKey, reply: FastifyReply): IssuedKey {
  reply.headers({ Location: `${PATH}/${issued.id}`, 'Cache-Control': 'no-store' });
  return issued;
}
