/** A value of a database that its attribute cannot have. */
export class Unfit {
  /** @param reason reason for the log: a sentence without the value */
  constructor(readonly reason: string) {}
}
