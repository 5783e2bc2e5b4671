import { SetMetadata } from '@nestjs/common';

export const PUBLIC = 'public';

/** A route, or all of a controller, that asks for no API key. It is not counted either: `@SkipThrottle()`. */
export const Public = () => SetMetadata(PUBLIC, true);
