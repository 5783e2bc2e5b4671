/** Why the bench does not run; the message says all there is to know. */
export class Refusal extends Error {}
