/** How long servers and replicas may take until they are ready, and a standby until it has taken over. */
export const READY_DEADLINE_MS = 90_000;

/** A server that stores data or counters. It keeps its port and its data through all faults. */
export interface Server {
  name: string;
  /** Starts it again after `kill`, and returns once it responds. */
  start(): Promise<void>;
  /** Ends all its processes at once. */
  kill(): Promise<void>;
  /** Stops all its processes, so that it hangs. */
  freeze(): Promise<void>;
  /** Resumes it, and returns once it responds in time, unless another replaces it. */
  goOn(): Promise<void>;
  /** Ends and removes it, in whichever state a fault left it. */
  close(): Promise<void>;
}

/** A server that has the service's database. */
export interface DatabaseServer extends Server {
  /** Returns the address of a database, past all links. */
  url(database: string): string;
}
