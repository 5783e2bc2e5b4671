import { CONTESTANTS } from './contestants.js';
import { copyTemplate } from './data.js';
import { interruption } from './interruption.js';
import { timeWork } from './machine-speed.js';
import { busyUs } from './processes.js';
import { writeCursors } from './stage.js';
import { takeTurn } from './turn.js';

/** Whose speed says what half a load is. */
const YARDSTICK = 'fastify';

/**
 * All rounds. In each everybody has a turn, so what disturbs the machine for a while disturbs all; every second one goes
 * backwards, so nobody always follows the same one.
 *
 * @returns every contestant's turns; how many cores other programs used meanwhile, where that is known; and milliseconds that
 *   the same work took before each turn.
 */
export async function playRounds(stage, options, say) {
  const halfLoad =
    options.halfLoad && options.only.includes(YARDSTICK) ? await findHalfLoad(stage, options, say) : null;
  const turns = Object.fromEntries(options.only.map((name) => [name, []]));
  const watch = watchOthers(stage);
  const workMs = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const name of round % 2 === 1 ? options.only : options.only.toReversed()) {
      say(`Round ${round} of ${options.rounds}: ${CONTESTANTS[name].title}`);
      workMs.push(timeWork());
      turns[name].push(await play(name, stage, { options, round, halfLoad }));
    }
  }
  return { turns, halfLoad, othersCores: watch(), workMs };
}

async function play(name, stage, facts) {
  interruption.throwIfAborted();
  await writeCursors(stage, CONTESTANTS[name]);
  return takeTurn(CONTESTANTS[name], {
    ...stage,
    ...facts,
    databaseUrl: await copyTemplate(stage.serverUrl),
  });
}

/** Half of the requests per second that the yardstick answers when it is loaded as fast as it goes. */
async function findHalfLoad(stage, options, say) {
  say(`How fast is ${CONTESTANTS[YARDSTICK].title}?`);
  const load = { workloads: ['first'], connections: [Math.max(...options.connections)] };
  const { loads } = await play(YARDSTICK, stage, {
    options: { ...options, ...load },
    round: 0,
    halfLoad: null,
  });
  return Math.round(Object.values(loads)[0].perSecond / 2);
}

function watchOthers({ ownCpuUs }) {
  const start = { at: performance.now(), busy: busyUs(), own: ownCpuUs() };
  return () =>
    start.busy === null
      ? null
      : (busyUs() - start.busy - (ownCpuUs() - start.own)) / ((performance.now() - start.at) * 1000);
}
