import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiBody, ApiConflictResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../../auth/current-principal.decorator.js';
import { Operation } from '../../deprecation/operation.decorator.js';
import { pageLinks } from '../../schemas/pagination.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import type { Principal } from '../../http/principal.js';
import { RateLimitStatus } from '../../rate-limit/rate-limit-status.schema.js';
import { KeyId } from './key-id.decorator.js';
import {
  ChangePlanInput,
  CreateKeyInput,
  IssuedKey,
  Key,
  KeyWithUsage,
  LabelKeyInput,
  RotateKeyInput,
} from './key.schemas.js';
import { keyPositionText, KeyQuery } from './key-query.schemas.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';

const PATH = '/admin/keys';

/** Injects the body of an operation that does not use it, so that a body that is not JSON is rejected. */
const UnusedBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>().body,
);

@ApiTags('keys')
@Controller(PATH)
export class KeysController {
  constructor(
    private readonly keys: KeyService,
    private readonly reader: KeyReader,
  ) {}

  @Get()
  @Operation(
    'stable',
    'List keys',
    'Returns one page of the keys with their usage, oldest first unless `sort` has another order.',
  )
  @PageResponse(KeyWithUsage, 'A page of keys.')
  async listKeys(
    @Query({ schema: KeyQuery }) query: KeyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyWithUsage[]> {
    const { entries, last } = await this.reader.page(query);
    reply.header('Link', pageLinks(PATH, query, last && keyPositionText(last)));
    return entries;
  }

  @Post()
  @Operation(
    'stable',
    'Issue a key',
    'Issues a key with a quota of its own. The response shows the key, which is not shown again.',
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    return shownOnce(await this.keys.issue(input, actor), reply);
  }

  @Get(':id')
  @KeyId()
  @Operation('stable', 'Get a key', 'Returns everything about a key, and its usage, except the key itself.')
  @Responses({ status: 200, schema: KeyWithUsage, description: 'The key.' })
  getKey(@Param('id') id: string): Promise<KeyWithUsage> {
    return this.reader.find(id);
  }

  @Patch(':id')
  @KeyId()
  @Operation(
    'stable',
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
  @Operation('stable', 'Label a key', 'Sets the name of the key and the note of administrators on it.')
  @Responses({ status: 200, schema: Key, description: 'The changed key.' })
  labelKey(
    @Param('id') id: string,
    @Body({ schema: LabelKeyInput }) { name, note }: LabelKeyInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.label(id, { name, note: note ?? null }, actor);
  }

  @Post(':id/rotate')
  @ApiBody({ required: false })
  @ApiConflictResponse()
  @KeyId()
  @Operation(
    'stable',
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
  @Operation('stable', 'Revoke a key', 'Revokes the key immediately and permanently.')
  @Responses({ status: 200, schema: Key, description: 'The revoked key.' })
  revokeKey(
    @Param('id') id: string,
    @UnusedBody() _body: unknown,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.revoke(id, actor);
  }

  @Post(':id/unban')
  @HttpCode(200)
  @KeyId()
  @Operation('stable', 'Lift a ban', "Ends the ban of the key's quota, if there is one.")
  @Responses({ status: 200, schema: Key, description: 'The key, without a ban.' })
  unbanKey(
    @Param('id') id: string,
    @UnusedBody() _body: unknown,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Key> {
    return this.keys.unban(id, actor);
  }

  @Get(':id/rate-limit')
  @KeyId()
  @Operation(
    'stable',
    'Get the rate-limit status of a key',
    "Returns the windows of the key's quota and its ban, if any, also if the key is no longer valid. It takes nothing from the windows.",
  )
  @Responses({ status: 200, schema: RateLimitStatus, description: 'The rate-limit status of the key.' })
  getKeyRateLimit(@Param('id') id: string): Promise<RateLimitStatus> {
    return this.reader.findRateLimit(id);
  }
}

function shownOnce(issued: IssuedKey, reply: FastifyReply): IssuedKey {
  reply.headers({ Location: `${PATH}/${issued.id}`, 'Cache-Control': 'no-store' });
  return issued;
}
