/** Has intervals pass by `jest.advanceTimersByTime` alone; all else takes the time that it takes. */
export function fakeIntervals(): void {
  jest.useFakeTimers({
    doNotFake: [
      'setTimeout',
      'clearTimeout',
      'setImmediate',
      'clearImmediate',
      'nextTick',
      'queueMicrotask',
      'Date',
      'performance',
      'hrtime',
    ],
  });
}
