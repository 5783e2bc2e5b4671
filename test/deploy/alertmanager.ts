import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import getPort from 'get-port';
import { stringify } from 'yaml';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { findProgram, startProgram } from '../support/programs/programs.js';

const ALERTMANAGER = findProgram('prometheus-alertmanager', 'prometheus-alertmanager');

/**
 * Whether this machine has an Alertmanager. Without one, its tests are skipped with a message; in CI they
 * fail.
 */
export const hasAlertmanager = ALERTMANAGER !== undefined;

/** An alert as its receiver gets it. */
interface Notice {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface Alertmanager {
  /** Its host and port. */
  address: string;
  /**
   * Waits until these labels are notified with this status, after all earlier waits, and returns the notice.
   */
  notice(status: Notice['status'], labels: Record<string, string>): Promise<Notice>;
  stop(): Promise<void>;
}

/** Starts the Alertmanager of Debian with a receiver, which it notifies of each alert at once. */
export async function startAlertmanager(): Promise<Alertmanager> {
  let notices: Notice[] = [];
  const receiver = createServer((request, response) => {
    void json(request).then((body) => {
      notices.push(...(body as { alerts: Notice[] }).alerts);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  const configuration = {
    route: { receiver: 'test', group_by: ['...'], group_wait: '0s', group_interval: '500ms' },
    receivers: [
      {
        name: 'test',
        webhook_configs: [{ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` }],
      },
    ],
  };
  const { stop } = await startProgram(
    [
      ALERTMANAGER ?? '',
      '--config.file=alertmanager.yml',
      '--storage.path=data',
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    { 'alertmanager.yml': stringify(configuration) },
    async () => (await send(`http://${address}/-/ready`).catch(() => null))?.status === 200,
  );
  return {
    address,
    notice: async (status, labels) => {
      const matches = (notice: Notice) =>
        notice.status === status &&
        Object.entries(labels).every(([name, value]) => notice.labels[name] === value);
      await until(() => notices.some(matches), 60_000);
      const index = notices.findIndex(matches);
      const found = notices[index] as Notice;
      notices = notices.slice(index + 1);
      return found;
    },
    stop: async () => {
      await stop();
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}
