import { openSync } from 'node:fs';
import { until } from '../support/eventually.js';
import { StalledPipe } from './log-readers.js';
import { StandardStream } from '../../src/process/standard-stream.js';

const LINE = `${'x'.repeat(1023)}\n`;
/** More lines than a pipe (64 KiB) and what is kept (1 MiB). */
const COUNT = 2_000;

describe('StandardStream', () => {
  let pipe: StalledPipe;
  beforeEach(() => {
    pipe = new StalledPipe();
  });
  afterEach(() => pipe.close());

  const writeMany = (stream: StandardStream, count = COUNT) => {
    for (let written = 0; written < count; written += 1) {
      stream.write(LINE);
    }
  };

  it('writes texts in order', async () => {
    const stream = new StandardStream(pipe.input);
    pipe.read();
    stream.write('first\n');
    writeMany(stream, 500);
    stream.write('last\n');
    await stream.drain(5_000);
    await until(() => pipe.text === `first\n${LINE.repeat(500)}last\n`);
    expect(stream.dropped).toBe(0);
  });

  it('drops and counts texts while nobody reads, and reports them after those that it kept', async () => {
    const stream = new StandardStream(pipe.input);
    const reports: number[] = [];
    stream.onRecovery = (dropped) => {
      reports.push(dropped);
      stream.write('gap\n');
    };
    writeMany(stream);
    await until(() => stream.dropped > 0);
    const { dropped } = stream;
    pipe.read();
    await until(() => pipe.text.endsWith('gap\n'));
    stream.write('afterwards\n');
    await stream.drain(5_000);
    await until(() => pipe.text === `${LINE.repeat(COUNT - dropped)}gap\nafterwards\n`);
    expect(reports).toEqual([dropped]);
  });

  it('waits no longer than it may for a reader that stalls', async () => {
    const stream = new StandardStream(pipe.input);
    writeMany(stream);
    const startMs = performance.now();
    await stream.drain(50);
    expect(performance.now() - startMs).toBeLessThan(500);
    // What is left would be written to whatever has the number of the descriptor next.
    pipe.read();
    await stream.drain(5_000);
  });

  it('keeps texts, and drops later ones, while a write fails', async () => {
    const stream = new StandardStream(openSync('/dev/full', 'w'));
    writeMany(stream);
    await stream.drain(50);
    expect(stream.dropped).toBeGreaterThan(0);
    expect(stream.dropped).toBeLessThan(COUNT);
  });
});
