import { ServiceProcess } from './service-process.js';

/** The service as an operator runs it, on this machine alone. */
const OPERATED = { NODE_ENV: 'production', APP_ENV: 'staging', HOST: '127.0.0.1' };

/** The processes of the service that a test starts, so that whatever it leaves running can be ended after it. */
export class ServiceProcesses {
  private readonly started: ServiceProcess[] = [];

  /** @param settings that they have in common, asked for whenever one is started: they may name what a test makes first. */
  constructor(private readonly settings: () => Record<string, string> = () => ({})) {}

  /** Starts one; its own settings go before those in common. */
  start(env: Record<string, string> = {}): ServiceProcess {
    const service = new ServiceProcess('main.js', { ...OPERATED, ...this.settings(), ...env });
    this.started.push(service);
    return service;
  }

  /** Ends all that still run, and waits until they have. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await Promise.all(this.started.splice(0).map((service) => service.kill(signal)));
  }
}
