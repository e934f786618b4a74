import type { ClassFunction, DataClass, PluginEngine, View } from '../../engine/index.ts'
import { functionParts, functionPath } from './functions.ts'
import { componentName, ref } from './names.ts'
import type { Parameters } from './parameters.ts'
import { relatedBy } from './schemas.ts'

type Section = 'paths' | 'parameters' | 'responses' | 'requestBodies'

/** Addresses of the functions that the caller may call, and the components to which they refer. */
export function functionsOf(
  classes: PluginEngine['classes'],
  view: View,
  mayCall: (called: ClassFunction) => boolean,
  parameters: Parameters,
): Readonly<Record<Section, Record<string, object>>> {
  const found: Record<Section, Record<string, object>> = { paths: {}, parameters: {}, responses: {}, requestBodies: {} }
  const add = (path: string, called: ClassFunction | undefined, id: string, more?: object[]): void => {
    if (!called || !mayCall(called)) return
    found.paths[path] = functionPath(called, id, more)
    const { parameters, responses, requestBodies } = functionParts(called, view)
    Object.assign(found.parameters, parameters)
    Object.assign(found.responses, responses)
    Object.assign(found.requestBodies, requestBodies)
  }
  const { services, parts, hasMembers } = parameters.registered
  if (services.has('$catalog')) {
    for (const called of classes.dataStore.values()) add(`/$catalog/${called.name}`, called, idOf(called))
  }
  if (!hasMembers) return found
  for (const [owner, functions] of classes.singletons) {
    for (const called of functions.values()) add(`/$singleton/${owner}/${called.name}`, called, idOf(called))
  }
  for (const dataClass of view.dataClasses) addOf(dataClass)
  return found

  function addOf(dataClass: DataClass): void {
    const { name } = dataClass
    const key = ref('parameters', `${componentName(name)}.key`)
    const selected = parameters.on(['call'], dataClass)
    for (const each of classes.names(name, false)) {
      const called = classes.find(name, each, false)!
      const id = idOf(called)
      if (called.target.kind === 'dataClass') {
        add(`/${name}/${each}`, called, id)
        continue
      }
      add(`/${name}/${each}`, called, id, selected)
      add(`/${name}({key},{keys})/${each}`, called, `${id}.$keys`, [key, ref('parameters', 'rest.keys')])
      if (parts.has('$entityset'))
        add(`/${name}/${each}/$entityset/{id}`, called, `${id}.$entityset`, [
          ref('parameters', 'rest.set'),
          ...selected,
        ])
    }
    for (const each of classes.names(name, true)) {
      const called = classes.find(name, each, true)!
      add(`/${name}({key})/${each}`, called, idOf(called), [key])
    }
    for (const attribute of view.attributes(dataClass)) {
      const relation = relatedBy(attribute)
      if (!relation || !view.shows(relation.target)) continue
      for (const each of classes.names(relation.target.name, !relation.isMany)) {
        const called = classes.find(relation.target.name, each, !relation.isMany)!
        // A function of the dataclass does not run on a selection.
        if (called.target.kind === 'dataClass') continue
        const id = `${name}.${called.target.kind}.${attribute.name}.${each}`
        add(`/${name}({key})/${attribute.name}/${each}`, called, id, [key])
      }
    }
  }
}

const idOf = ({ owner, target, name }: ClassFunction): string => `${owner}.${target.kind}.${name}`
