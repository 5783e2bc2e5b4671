import { ServerClock } from '../../process/clock.js';

/** The database's time, which each look-up of a key corrects: replicas whose clocks differ agree on it. */
export class DatabaseClock extends ServerClock {}
