/** Why the bench does not run; the message is all that a user needs. */
export class Refusal extends Error {}
