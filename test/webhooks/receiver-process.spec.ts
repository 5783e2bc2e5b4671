import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { machineMs } from '../../src/webhooks/post-to-receiver.js';
import { ReceiverProcess } from '../../src/webhooks/receiver-process.client.js';
import { until } from '../support/eventually.js';
import { useReceiver } from '../support/programs/receiver.js';

const receiver = useReceiver();
const receivers = new ReceiverProcess();
let warnings: unknown[];
const environment = process.env;

beforeEach(() => {
  warnings = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => warnings.push(message));
});
afterEach(() => {
  process.env = environment;
  jest.restoreAllMocks();
});
afterAll(endProcess);

const post = ({ url = receiver.url, timeoutMs = 10_000, allowsPrivate = true } = {}) =>
  receivers.post({ url, headers: {}, body: '{}', allowsPrivate, endMs: machineMs() + timeoutMs });
const child = () => receivers['child'];
/** Ends the process, so that the next request starts another. */
function endProcess(): Promise<void> {
  return receivers.end('It was ended');
}

const linuxIt = process.platform === 'linux' ? it : it.skip;
/** The variables by which Node connects a process to the one that started it. */
const CHANNEL = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'];

describe('the process that sends webhooks', () => {
  it('is not started before there is something to send, and then once', async () => {
    expect(child()).toBeNull();
    await post();
    const { pid } = child() ?? {};
    await Promise.all([post(), post()]);
    expect(child()?.pid).toBe(pid);
    expect(receiver.received).toHaveLength(3);
  });

  it('has a low priority', async () => {
    await post();
    expect(getPriority(child()?.pid)).toBeGreaterThan(getPriority());
  });

  it('ends a request without a response in time, and sends none whose time is over', async () => {
    await post();
    let isClosed = false;
    receiver.respond = (response) => response.on('close', () => (isClosed = true));
    await expect(post({ timeoutMs: 500 })).rejects.toThrow('No response within 15 s');
    await until(() => isClosed);
    expect(receiver.received).toHaveLength(2);
    const { pid } = child() ?? {};
    await expect(post({ timeoutMs: 0 })).rejects.toThrow('No response within 15 s');
    // It has replied, so it is not killed.
    await pause(1100);
    expect([child()?.pid, warnings]).toEqual([pid, []]);
    expect(receiver.received).toHaveLength(2);
  });

  it('fails all its requests when it is killed, says so, and is started again by a later one', async () => {
    receiver.respond = () => {};
    const outcomes = Promise.allSettled([post(), post()]);
    await until(() => receiver.received.length === 2);
    const killed = child();
    killed?.kill('SIGKILL');
    const reason = new Error('The process that sends webhooks ended: SIGKILL');
    expect(await outcomes).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect(warnings).toEqual(['The process that sends webhooks ended, and is started again: SIGKILL']);
    receiver.reset();
    expect(await post()).toEqual({ status: 204, retryAfter: null, body: '' });
    expect(child()?.pid).not.toBe(killed?.pid);
  });

  it('is killed when it hangs, says so, and is started again by a later request', async () => {
    await post();
    const hanging = child();
    process.kill(hanging?.pid ?? NaN, 'SIGSTOP');
    const outcomes = await Promise.allSettled([post({ timeoutMs: 100 }), post({ timeoutMs: 100 })]);
    const reason = new Error('The process that sends webhooks ended: SIGKILL');
    expect(outcomes).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect(warnings).toEqual([
      'The process that sends webhooks hangs, so it is killed.',
      'The process that sends webhooks ended, and is started again: SIGKILL',
    ]);
    expect(await post()).toEqual({ status: 204, retryAfter: null, body: '' });
    expect(child()?.pid).not.toBe(hanging?.pid);
  });

  it('ends when it is no longer needed, with its requests, and logs nothing', async () => {
    await post();
    receiver.respond = () => {};
    const outcome = Promise.allSettled([post()]);
    await until(() => receiver.received.length === 2);
    const ended = child();
    await receivers.end('It was ended');
    expect(await outcome).toEqual([{ status: 'rejected', reason: new Error('It was ended') }]);
    expect(ended?.signalCode).toBe('SIGKILL');
    expect(warnings).toStrictEqual([]);
  });
});

describe('the process that sends webhooks, as it starts', () => {
  beforeEach(endProcess);

  linuxIt('has of the environment only what it needs', async () => {
    process.env = {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgres://u:secret@db/',
      COUNTER_STORE_URL: 'redis://:secret@store/',
      NODE_AUTH_TOKEN: 'secret',
      LD_SDK_KEY: 'secret',
      NODE_OPTIONS: '--no-warnings --inspect=127.0.0.1:0',
      NODE_NO_WARNINGS: '1',
      no_proxy: 'localhost',
    };
    await post();
    const variables = (await readFile(`/proc/${child()?.pid}/environ`, 'utf8')).split('\0');
    const names = variables.map((variable) => variable.split('=')[0]);
    expect(new Set(names)).toEqual(
      new Set(['', 'PATH', 'NODE_OPTIONS', 'NODE_NO_WARNINGS', 'UV_THREADPOOL_SIZE', 'no_proxy', ...CHANNEL]),
    );
    expect(variables).toContain('NODE_OPTIONS=--no-warnings');
  });

  it('has the options of Node, but reads no file of variables, and awaits no debugger', async () => {
    const files = ['--env-file=.env', '--env-file', '.env', '--env-file-if-exists', '.env'];
    jest.replaceProperty(process, 'execArgv', ['--no-deprecation', ...files, '--inspect-port', '0']);
    await post();
    expect(child()?.spawnargs.slice(1, -1)).toEqual(['--no-deprecation', '--max-old-space-size=64']);
  });

  it('is not started again at once if it cannot start, which the log explains', async () => {
    process.env = { ...environment, NODE_OPTIONS: '--require /does/not/exist.cjs' };
    await expect(post()).rejects.toThrow('The process that sends webhooks ended: exit code 1');
    expect(receivers.isAvailable).toBe(false);
    expect(warnings).toEqual([
      expect.stringMatching(/^The process that sends webhooks ended.*: exit code 1\n.*Cannot find module/s),
    ]);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 5000);
    expect(receivers.isAvailable).toBe(true);
  });
});

/** Node 20 has no proxies. */
const describeWithProxies = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
  ? describe
  : describe.skip;

describeWithProxies('the proxy of the settings of Node', () => {
  beforeEach(() => {
    const HTTP_PROXY = receiver.url.replace('/hook', '');
    process.env = { ...environment, NODE_USE_ENV_PROXY: '1', HTTP_PROXY, NO_PROXY: 'direct.invalid' };
  });
  beforeAll(endProcess);

  it('gets what is sent to a name, which it looks up', async () => {
    expect(await post({ url: 'http://webhooks.invalid/hook', allowsPrivate: false })).toEqual({
      status: 204,
      retryAfter: null,
      body: '',
    });
    expect(receiver.received).toMatchObject([{ method: 'POST', path: 'http://webhooks.invalid/hook' }]);
  });

  it('does not get what is sent to a private address, or to a name of NO_PROXY', async () => {
    await expect(post({ url: 'http://10.0.0.1/', allowsPrivate: false })).rejects.toThrow(
      'has the private address',
    );
    await expect(post({ url: 'http://direct.invalid/', allowsPrivate: false })).rejects.toThrow(
      /ENOTFOUND|EAI_AGAIN/,
    );
    expect(receiver.received).toStrictEqual([]);
  });
});
