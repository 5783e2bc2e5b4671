/** Makes intervals, and nothing else, depend on `jest.advanceTimersByTime`. */
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
