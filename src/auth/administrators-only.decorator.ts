import { UseGuards } from '@nestjs/common';
import { RoleGuard } from './role.guard.js';

/** Marks a route, or all of a controller, as one that serves administrators' keys alone. */
export const AdministratorsOnly = () => UseGuards(RoleGuard);
