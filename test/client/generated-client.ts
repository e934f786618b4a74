/** The source of a client for a model. */
import { publicView } from '../../engine/catalog/view.ts'
import { loadModel } from '../../engine/index.ts'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import { clientText } from '../../plugins/client/index.ts'

export function clientOf(model: object, dates: 'date' | 'text' = 'date'): string {
  const seen = { view: publicView(loadModel(model)), classes: new ClassRegistry(), mayCall: () => true }
  return clientText(seen, { source: 'test', dates, isModule: false })
}
