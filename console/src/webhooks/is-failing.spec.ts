import { isFailing } from './is-failing';

const delivered = {
  id: '019aaa00-0000-7000-8000-000000000001',
  eventType: 'webhook.test',
  state: 'delivered',
  attempts: 1,
  lastAttemptAt: '2027-01-01T00:00:00.000Z',
  nextAttemptAt: null,
  lastFailure: null,
  responseStatus: 204,
};
const failed = { ...delivered, state: 'failed', lastFailure: 'The response was 500', responseStatus: 500 };

describe('isFailing', () => {
  it.each([
    ['whose last delivery succeeded', { lastDelivery: delivered, failingDeliveryCount: 0 }, false],
    ['that was sent nothing', { lastDelivery: null, failingDeliveryCount: 0 }, false],
    ['whose last delivery failed', { lastDelivery: failed, failingDeliveryCount: 0 }, true],
    ['with a failure behind a success', { lastDelivery: delivered, failingDeliveryCount: 1 }, true],
  ])('returns whether a webhook %s is failing', (_which, webhook, expected) => {
    expect(isFailing(webhook)).toBe(expected);
  });
});
