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
  mayCall: (classFunction: ClassFunction) => boolean,
  parameters: Parameters,
): Readonly<Record<Section, Record<string, object>>> {
  const sections: Record<Section, Record<string, object>> = {
    paths: {},
    parameters: {},
    responses: {},
    requestBodies: {},
  }
  const add = (path: string, classFunction: ClassFunction | undefined, id: string, more?: object[]): void => {
    if (!classFunction || !mayCall(classFunction)) return
    sections.paths[path] = functionPath(classFunction, id, more)
    const { parameters, responses, requestBodies } = functionParts(classFunction, view)
    Object.assign(sections.parameters, parameters)
    Object.assign(sections.responses, responses)
    Object.assign(sections.requestBodies, requestBodies)
  }
  const { services, parts, hasMembers } = parameters.registrations
  if (services.has('$catalog')) {
    for (const classFunction of classes.dataStore.values())
      add(`/$catalog/${classFunction.name}`, classFunction, idOf(classFunction))
  }
  if (!hasMembers) return sections
  for (const [owner, functions] of classes.singletons) {
    for (const classFunction of functions.values())
      add(`/$singleton/${owner}/${classFunction.name}`, classFunction, idOf(classFunction))
  }
  for (const dataClass of view.dataClasses) addOf(dataClass)
  return sections

  function addOf(dataClass: DataClass): void {
    const { name } = dataClass
    const key = ref('parameters', `${componentName(name)}.key`)
    const selectionParameters = parameters.on(['call'], dataClass)
    for (const each of classes.names(name, false)) {
      const classFunction = classes.find(name, each, false)!
      const id = idOf(classFunction)
      if (classFunction.target.kind === 'dataClass') {
        add(`/${name}/${each}`, classFunction, id)
        continue
      }
      add(`/${name}/${each}`, classFunction, id, selectionParameters)
      add(`/${name}({key},{keys})/${each}`, classFunction, `${id}.$keys`, [key, ref('parameters', 'rest.keys')])
      if (parts.has('$entityset'))
        add(`/${name}/${each}/$entityset/{id}`, classFunction, `${id}.$entityset`, [
          ref('parameters', 'rest.set'),
          ...selectionParameters,
        ])
    }
    for (const each of classes.names(name, true)) {
      const classFunction = classes.find(name, each, true)!
      add(`/${name}({key})/${each}`, classFunction, idOf(classFunction), [key])
    }
    for (const attribute of view.attributes(dataClass)) {
      const relation = relatedBy(attribute)
      if (!relation || !view.shows(relation.target)) continue
      for (const each of classes.names(relation.target.name, !relation.isMany)) {
        const classFunction = classes.find(relation.target.name, each, !relation.isMany)!
        // A function of the dataclass does not run on a selection.
        if (classFunction.target.kind === 'dataClass') continue
        const id = `${name}.${classFunction.target.kind}.${attribute.name}.${each}`
        add(`/${name}({key})/${attribute.name}/${each}`, classFunction, id, [key])
      }
    }
  }
}

const idOf = ({ owner, target, name }: ClassFunction): string => `${owner}.${target.kind}.${name}`
