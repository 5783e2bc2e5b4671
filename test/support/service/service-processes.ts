import { ServiceProcess } from './service-process.js';

/** The service as an operator runs it, on this machine only. No balancer must notice that it stops. */
const OPERATED = { NODE_ENV: 'production', APP_ENV: 'staging', HOST: '127.0.0.1', SHUTDOWN_DELAY: '0' };

/** The service processes that a test starts, so that those still running can be ended after it. */
export class ServiceProcesses {
  private readonly started: ServiceProcess[] = [];

  /** @param settings returns the common settings at each start, when what they name exists. */
  constructor(private readonly settings: () => Record<string, string> = () => ({})) {}

  /** Starts a process. Its own settings override the common ones. */
  start(env: Record<string, string> = {}): ServiceProcess {
    const service = new ServiceProcess('main.js', { ...OPERATED, ...this.settings(), ...env });
    this.started.push(service);
    return service;
  }

  /** What those that still run have logged, and written as errors. */
  get output(): { stdout: string; stderr: string } {
    const join = (name: 'stdout' | 'stderr') => this.started.map((service) => service[name]).join('');
    return { stdout: join('stdout'), stderr: join('stderr') };
  }

  /** Ends all processes that still run, and waits for them. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await Promise.all(this.started.splice(0).map((service) => service.kill(signal)));
  }
}
