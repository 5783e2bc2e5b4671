import { SetMetadata } from '@nestjs/common';

export const PUBLIC = 'public';

/** Marks a route or a controller that needs no API key; it needs `@SkipThrottle()` too. */
export const Public = () => SetMetadata(PUBLIC, true);
