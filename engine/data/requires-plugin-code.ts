/** Stops a query in a thread that does not run plugin code. Never leaves the engine. */
export class RequiresPluginCode extends Error {
  override readonly name = 'RequiresPluginCode'
}
