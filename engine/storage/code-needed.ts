/** What stops a query in a thread that runs no code. Nobody outside of the engine gets to see it. */
export class CodeNeeded extends Error {
  override readonly name = 'CodeNeeded'
}
