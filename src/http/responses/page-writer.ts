import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { serializerSchema } from '../../schemas/json-schema.js';
import { jsonWriter } from '../../schemas/json-writer.js';
import { type Page, pageLinks, pageSchema } from '../../schemas/pagination.js';
import { entityTag } from './revalidation.hook.js';

/** By default Fastify sends a string as plain text. */
const JSON_TYPE = 'application/json; charset=utf-8';

interface WrittenPage {
  body: string;
  links: string;
  tag: string;
}

/**
 * Writes the pages of a list: once for all requests that share a page, which must have the same parameters.
 */
export class PageWriter<Entry> {
  private readonly write: (value: unknown) => string;
  private readonly written = new WeakMap<Page<Entry>, WrittenPage>();

  /** @param position returns the position after which the page behind this entry begins. */
  constructor(
    private readonly path: string,
    entry: z.ZodType<Entry>,
    private readonly position: (last: Entry) => string,
  ) {
    this.write = jsonWriter(serializerSchema(pageSchema(entry)));
  }

  /** Sets the headers of a response, and returns its body. */
  respond(reply: FastifyReply, page: Page<Entry>, query: object): string {
    let written = this.written.get(page);
    if (written === undefined) {
      const body = this.write(page.entries);
      const links = pageLinks(this.path, query, page.last && this.position(page.last));
      written = { body, links, tag: entityTag(body, links) };
      this.written.set(page, written);
    }
    reply.type(JSON_TYPE).header('Link', written.links).header('ETag', written.tag);
    return written.body;
  }
}
