import { InputError } from '../../engine/base/input-error.ts'
import type { DataClassModel } from '../../engine/index.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import type { RelationsBy } from '../../engine/import/relation-lookup.ts'

type DataClasses = Readonly<Record<string, DataClassModel>>
type AttributeModel = DataClassModel['attributes'][string]

/** A way back from a related dataclass to the new one. */
interface Inverse {
  readonly relation: string
  readonly target: string
  readonly inverse: string
  readonly attribute: AttributeModel
}

/** A new dataclass with its relations. */
export interface Related {
  readonly dataClass: DataClassModel
  /** The other dataclasses, with the ways back. */
  readonly others: DataClasses
  readonly inverses: readonly Inverse[]
}

/**
 * Makes attributes of a new dataclass relations to others: each gets a foreign key, and a way back.
 * @throws {Error} an attribute or a dataclass does not exist
 */
export function addRelations(
  name: string,
  dataClass: DataClassModel,
  dataClasses: DataClasses,
  relations: RelationsBy,
): Related {
  const inverses: Inverse[] = []
  const others: Record<string, DataClassModel> = { ...dataClasses }
  const attributes: Record<string, AttributeModel> = {}
  for (const each of Object.keys(relations))
    if (!Object.hasOwn(dataClass.attributes, each))
      throw new InputError(
        `no column becomes the relation "${each}"; they are ${Object.keys(dataClass.attributes).join(', ')}`,
      )
  for (const [attribute, model] of Object.entries(dataClass.attributes)) {
    const by = Object.hasOwn(relations, attribute) ? relations[attribute]! : undefined
    if (by === undefined) {
      attributes[attribute] = model
      continue
    }
    const target = by.split('.')[0]!
    const other = Object.hasOwn(others, target) ? others[target]! : undefined
    if (!other)
      throw new InputError(
        `--relation ${attribute}=${by}: there is no dataclass "${target}"${suggestion(target, Object.keys(others))}`,
      )
    const foreignKey = freeName(`${attribute}ID`, dataClass.attributes)
    const inverse = freeName(`${name.charAt(0).toLowerCase()}${name.slice(1)}Set`, other.attributes)
    attributes[foreignKey] = keyType(other)
    attributes[attribute] = { kind: 'relatedEntity', type: target, foreignKey, inverseName: inverse }
    const back: AttributeModel = { kind: 'relatedEntities', type: `${name}Selection`, inverseName: attribute }
    others[target] = { ...other, attributes: { ...other.attributes, [inverse]: back } }
    inverses.push({ relation: attribute, target, inverse, attribute: back })
  }
  return { dataClass: { ...dataClass, attributes }, others, inverses }
}

/** Type of a foreign key: that of the key without what makes it one. */
function keyType({ key, attributes }: DataClassModel): AttributeModel {
  const { type, simpleDate, scale, asText } = attributes[key] as Record<string, unknown>
  const options = Object.entries({ type, simpleDate, scale, asText }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(options) as unknown as AttributeModel
}

function freeName(name: string, others: Readonly<Record<string, unknown>>): string {
  for (let i = 1; ; i++) {
    const free = i === 1 ? name : `${name}${i}`
    if (!Object.hasOwn(others, free)) return free
  }
}
