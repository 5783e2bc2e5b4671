/** The reason why a command cannot run. Its message is all that a user needs. */
export class Refusal extends Error {}
