/** Changes of a user in a form. */
import { type Attribute, attributeOf, type DataClass } from '../base/model.ts'
import { decimalSign } from '../base/texts.ts'
import { type Input, inputOf, read } from './editor.ts'
import type { LoadedEntity } from './load-entity.ts'

export interface Form {
  readonly dataClass: DataClass
  /** The entity as it was read; undefined for a new one. */
  readonly base: LoadedEntity | undefined
  /** Contents of touched fields. */
  readonly inputs: ReadonlyMap<string, Input>
}

/** The content of the field for the stored value of an attribute, or for its default in a new entity. */
export const storedInput = ({ base, dataClass }: Form, attribute: Attribute): Input =>
  base ? inputOf(attribute, base.json.get(attribute.name)) : defaultInput(dataClass, attribute)

/** A relation has the default of its foreign key. */
const defaultInput = (dataClass: DataClass, attribute: Attribute): Input => {
  const { default: value } = attributeOf(dataClass, attribute.foreignKey ?? attribute.name)!
  return inputOf(attribute, JSON.stringify(value))
}

/** The value that is sent for the content of a field, read as the user's language writes it. */
export const readInput = (attribute: Attribute, input: Input) => read(attribute, input, decimalSign())

/** Fields whose contents mean other values than the stored ones. */
export function changedInputs(form: Form): ReadonlyMap<string, Input> {
  const changedEntries = [...form.inputs].filter(([name, input]) => {
    const attribute = attributeOf(form.dataClass, name)
    const storedValue = attribute && storedInput(form, attribute)
    if (!attribute || input === storedValue) return false
    const now = readInput(attribute, input)
    const before = readInput(attribute, storedValue ?? null)
    return !('json' in now && 'json' in before && now.json === before.json)
  })
  return new Map(changedEntries)
}

/** Attributes with their values as JSON. */
export type Values = readonly (readonly [name: string, json: string])[]

/** The values that the user has changed. */
export const changedValues = (form: Form): Values =>
  [...changedInputs(form)].flatMap(([name, input]) => {
    const result = readInput(attributeOf(form.dataClass, name)!, input)
    return 'json' in result ? [[name, result.json] as const] : []
  })
