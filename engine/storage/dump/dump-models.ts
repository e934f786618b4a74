import { suggestion } from '../../base/suggestion.ts'
import { checkModel } from '../../catalog/check-model.ts'
import type { Model } from '../../catalog/model-schema.ts'
import type { DumpFolder } from './dump-folder.ts'
import { DumpError, list } from './dump-form.ts'

/** The model without the members that the server has filled in. */
export const dumpedModel = ({ dataClasses, ...model }: Model): Model => ({
  ...model,
  dataClasses: Object.fromEntries(
    Object.entries(dataClasses).map(([name, dataClass]) => {
      const attributes = Object.entries(dataClass.attributes).map(([each, { ...attribute }]) => {
        if (attribute.kind === 'calculated') delete attribute.code
        return [each, attribute] as const
      })
      return [name, { ...dataClass, attributes: Object.fromEntries(attributes) }]
    }),
  ),
})

/** Models of the dump and of the store. */
export interface Models {
  readonly model: Model
  /** Dataclass of the store by its name in the dump; undefined for a dataclass that is left out. */
  readonly classes: ReadonlyMap<string, string | undefined>
  /** Attributes of the store by their names in the dump, by dataclass of the store. */
  readonly formerNames: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Names in the dump that are left out, by dataclass of the store. */
  readonly leftOut: ReadonlyMap<string, ReadonlySet<string>>
}

/** @throws {DumpError} the dump has something that the model does not have */
export function readModels(
  dump: DumpFolder,
  { model: other, leaveOutUnknown = false }: { model?: unknown; leaveOutUnknown?: boolean },
): Models {
  const ownModel = dump.model()
  const chosenModel = other ?? ownModel
  if (chosenModel === undefined)
    throw new DumpError(`the dump in ${dump.path} has no model.json; add one, or give --model FILE`)
  const model = checkModel(chosenModel)
  const before = ownModel === undefined || other === undefined ? model : checkModel(ownModel)
  const classNames = Object.keys(dump.description.dataClasses ?? {})
  const names = new Set([...Object.keys(before.dataClasses), ...classNames])
  dump.checkNames([...names])
  const classes = new Map<string, string | undefined>()
  const formerNames = new Map<string, Map<string, string>>()
  const leftOut = new Map<string, Set<string>>()
  const unknown: string[] = []
  for (const name of names) {
    const target = nameNow(name, model.dataClasses)
    classes.set(name, target)
    if (target === undefined) {
      unknown.push(`the dataclass ${name}${suggestion(name, Object.keys(model.dataClasses))}`)
      continue
    }
    const { attributes } = model.dataClasses[target]!
    const former = new Map<string, string>()
    const leftOutNames = new Set<string>()
    for (const [attribute, { kind }] of Object.entries(before.dataClasses[name]?.attributes ?? {})) {
      const now = nameNow(attribute, attributes)
      const isStored = now !== undefined && isStorage(attributes[now]!)
      if (isStored && now !== attribute) former.set(attribute, now)
      if (isStored || !isStorage(before.dataClasses[name]!.attributes[attribute]!)) continue
      leftOutNames.add(attribute)
      unknown.push(`${name}.${attribute}${kind === 'calculated' ? ', a stored calculated value' : ''}`)
    }
    formerNames.set(target, former)
    leftOut.set(target, leftOutNames)
  }
  if (unknown.length > 0 && !leaveOutUnknown) {
    throw new DumpError(
      `the model does not have what the dump has:\n${list(unknown)}\nAdd it to the model, name it as "formerName", or give --leave-out-unknown.`,
    )
  }
  return { model, classes, formerNames, leftOut }
}

const isStorage = (attribute: Model['dataClasses'][string]['attributes'][string]): boolean =>
  (attribute.kind ?? 'storage') === 'storage' || (attribute.kind === 'calculated' && attribute.stored === true)

/** Current name in a model for a name that may be a former one. */
function nameNow(name: string, all: Readonly<Record<string, { formerName?: string }>>): string | undefined {
  if (Object.hasOwn(all, name)) return name
  return Object.entries(all).find(([, { formerName }]) => formerName === name)?.[0]
}
