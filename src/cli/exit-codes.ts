/** The exit code of a command that failed. */
export const EXIT_FAILURE = 1;
/** The exit code of a command that is used wrongly. */
export const EXIT_USAGE = 2;
