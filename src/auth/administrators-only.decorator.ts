import { ApiForbiddenResponse } from '@nestjs/swagger';

/** Documents that a controller under `/admin` serves only administrators' keys; `RoleGuard` checks it by the path. */
export const AdministratorsOnly = () => ApiForbiddenResponse();
