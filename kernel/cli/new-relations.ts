import { InputError } from '../../engine/base/input-error.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import { freeName } from '../../engine/base/text/free-name.ts'
import type { RelationsBy } from '../../engine/command-line.ts'
import {
  type Addition,
  type DraftAttribute,
  type DraftClass,
  type DraftModel,
  relationOf,
  typeOf,
} from './draft-model.ts'

/** A new dataclass with its relations. */
export interface Related {
  readonly dataClass: DraftClass
  /** Inverse relations in other dataclasses. */
  readonly inverses: Addition['attributes']
}

/**
 * Turns attributes of a new dataclass into relations to others or to itself: each gets a foreign key and an inverse relation.
 * @throws {Error} an attribute or a dataclass does not exist
 */
export function addRelations(
  from: string,
  dataClass: DraftClass,
  { dataClasses }: DraftModel,
  relations: RelationsBy,
): Related {
  for (const each of Object.keys(relations))
    if (!Object.hasOwn(dataClass.attributes, each))
      throw new InputError(
        `no column becomes the relation "${each}"; there are ${Object.keys(dataClass.attributes).join(', ')}`,
      )
  const attributes: Record<string, DraftAttribute> = {}
  const inverses: Addition['attributes'][number][] = []
  for (const [name, attribute] of Object.entries(dataClass.attributes)) {
    const by = Object.hasOwn(relations, name) ? relations[name]! : undefined
    if (by === undefined) {
      attributes[name] = attribute
      continue
    }
    const to = by.split('.')[0]!
    if (to !== from && !Object.hasOwn(dataClasses, to))
      throw new InputError(
        `--relation ${name}=${by}: there is no dataclass "${to}"${suggestion(to, Object.keys(dataClasses))}`,
      )
    const other = to === from ? dataClass : dataClasses[to]!
    const foreignKey = freeName(`${name}ID`, each => Object.hasOwn(dataClass.attributes, each))
    const isTaken = (each: string): boolean =>
      Object.hasOwn(other.attributes, each) || inverses.some(([owner, takenName]) => owner === to && takenName === each)
    const inverse = freeName(`${from.charAt(0).toLowerCase()}${from.slice(1)}Set`, isTaken)
    const [toOne, back] = relationOf({ from, name, to, foreignKey, inverse }).attributes
    attributes[foreignKey] = typeOf(other.attributes[other.key]!)
    attributes[name] = toOne![2]
    inverses.push(back!)
  }
  return { dataClass: { ...dataClass, attributes }, inverses }
}
