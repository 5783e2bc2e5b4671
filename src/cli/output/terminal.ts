/** Returns the number of columns of the terminal, or null if standard output is not a terminal. */
export function terminalColumns(): number | null {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : null;
}

/** Returns whether a user can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}
