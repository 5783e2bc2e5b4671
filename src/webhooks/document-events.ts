import type { OpenAPIObject, ParameterObject } from '@nestjs/swagger';
import { PAYLOADS, TEST_EVENT } from './events.js';

const TEXT_MAX_LENGTH = 512;

const header = (name: string, description: string): ParameterObject => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', maxLength: TEXT_MAX_LENGTH },
});

/** The headers of Standard Webhooks. */
const HEADERS = [
  header('webhook-id', 'Identifies the event, the same for every webhook and attempt.'),
  header('webhook-timestamp', 'When this attempt was sent: a Unix time in seconds.'),
  header(
    'webhook-signature',
    'Signatures of `webhook-id`, `webhook-timestamp` and the body, as Standard Webhooks defines them, with ' +
      'a space between: one with the secret of the webhook, and for 24 hours after its rotation one with ' +
      'the secret before.',
  ),
];

const WAITS = {
  description:
    'A failure. Until its `Retry-After` is over, the service sends only test events to the receiver.',
};
const RESPONSES = {
  '2XX': {
    description:
      'The event was received. Respond so to an unknown type too, because later versions may add types. ' +
      'Every other status is a failure, and the event is sent again, for three days.',
  },
  410: { description: 'The receiver wants no more events: the webhook is paused.' },
  429: WAITS,
  503: WAITS,
};

const TEST_RESPONSES = {
  '2XX': {
    description: 'The test event was received. Every other status is a failure, and it is not sent again.',
  },
  410: RESPONSES[410],
  429: WAITS,
  503: WAITS,
};

/** Returns the requests that a receiver gets, by the types of their events, for the document. */
export function documentEvents(): NonNullable<OpenAPIObject['webhooks']> {
  return Object.fromEntries(
    PAYLOADS.map(({ type, description, name }) => {
      const schema = { $ref: `#/components/schemas/${name}` };
      const post = {
        tags: ['webhooks'],
        operationId: name.charAt(0).toLowerCase() + name.slice(1),
        summary: type,
        description,
        security: [],
        parameters: HEADERS,
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: type === TEST_EVENT ? TEST_RESPONSES : RESPONSES,
      };
      return [type, { post }];
    }),
  );
}
