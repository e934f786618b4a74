import { place } from '../base/place.ts'
import { entityPath } from '../base/paths.ts'
import { parametersOf, pathOf, selection } from '../base/selection.ts'
import { CallPanel } from './call-panel.tsx'

/** Functions of a dataclass, of the shown selection, and of one of its entities. */
export function CallTab() {
  const currentSelection = selection.value!
  const { name, methods = [] } = currentSelection.dataClass
  return (
    <CallPanel
      callables={methods.map(each => ({ ...each, owner: name }))}
      defaultKey={place.value.query.entity ?? ''}
      targetOf={({ applyTo }, key) =>
        applyTo === 'entity' ? entityPath(name, key) : applyTo === 'dataClass' ? name : pathOf(currentSelection)
      }
      narrowing={parametersOf(currentSelection)}
    />
  )
}
