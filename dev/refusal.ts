/** The reason why a run cannot take place. Its message is all that a user needs. */
export class Refusal extends Error {}
