import { ApiTags } from '@nestjs/swagger';

/** The descriptions of all tags. */
const descriptions = new Map<string, string>();

/** Gives the operations of a controller a tag, which the documents describe so. */
export function Tag(name: string, description: string): ClassDecorator {
  descriptions.set(name, description);
  return ApiTags(name);
}

/** Returns tags as the documents describe them. @throws Error for a name that no `@Tag()` has. */
export function describeTags(names: Iterable<string>): { name: string; description: string }[] {
  return [...names].map((name) => {
    const description = descriptions.get(name);
    if (description === undefined) {
      throw new Error(`The tag ${name} has no description: use @Tag() at its controller`);
    }
    return { name, description };
  });
}
