/** Stops a query in a thread that runs no code. Never leaves the engine. */
export class RequiresPluginCode extends Error {
  override readonly name = 'RequiresPluginCode'
}
