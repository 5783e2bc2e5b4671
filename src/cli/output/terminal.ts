/** Returns how many columns the terminal has, or null where standard output is none. */
export function terminalColumns(): number | null {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : null;
}

/** Whether somebody is there to answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}
