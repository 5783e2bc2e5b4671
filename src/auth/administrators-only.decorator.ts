import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiForbiddenResponse } from '@nestjs/swagger';
import { RoleGuard } from './role.guard.js';

/** Marks a route, or all of a controller, as one that serves administrators' keys alone. */
export const AdministratorsOnly = () => applyDecorators(UseGuards(RoleGuard), ApiForbiddenResponse());
