import { type Attribute, isRelation } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ValueSyntax } from '../parse/syntax-tree.ts'
import { type ResolvedPath, resolvePath } from './resolve-path.ts'

/**
 * Refuses an unquoted word that would be read as a text although it is the path of an attribute with texts: `capital = name`. Two
 * attributes cannot be compared, and the text "name" is hardly ever meant.
 * @param view of the reader of the error
 * @throws {QueryErrors.VALUE}
 */
export function refuseAttributeName(
  value: ValueSyntax,
  comparedPath: ResolvedPath,
  dataClass: DataClass,
  view: View,
): void {
  if (value.kind !== 'literal' || value.quoted || !mayBeText(comparedPath)) return
  const namedPath = pathOf(value.text, dataClass, view)
  if (!namedPath || isRelation(namedPath.target) || !mayBeText(namedPath)) return
  const text = excerpt(value.text)
  throw QueryErrors.VALUE(`the attribute "${text}"`, comparedPath.text, `a value; quote it for the text: '${text}'`)
}

/** True for texts, keys of related entities that are texts, and everything inside objects. */
function mayBeText({ target, elements }: ResolvedPath): boolean {
  if (elements.length > 0) return true
  const comparedAttribute = target.kind === 'relatedEntity' ? target.target.key : target
  return (
    comparedAttribute.kind !== 'relatedEntities' &&
    isScalarType(comparedAttribute.type) &&
    TYPES[comparedAttribute.type].comparison === 'text'
  )
}

/** Path that a word spells; undefined if the word is not a path. */
function pathOf(word: string, dataClass: DataClass, view: View): ResolvedPath | undefined {
  const names = word.split('.')
  const first: Attribute | undefined = view.attribute(dataClass, names[0]!) ?? dataClass.head.get(names[0]!)
  if (!first) return undefined
  try {
    return resolvePath(
      names.map(name => ({ name, classIndex: undefined, element: undefined })),
      dataClass,
      view,
    )
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}
