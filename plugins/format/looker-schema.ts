import { type Attribute, type DataClass, type PathListItem, TYPES, type View } from '../../engine/index.ts'

/** Description of a column, as Looker Studio describes fields. Source: its connector reference, "Field" and "Semantics". */
interface LookerField {
  name: string
  dataType: 'NUMBER' | 'STRING' | 'BOOLEAN'
  semantics: { conceptType: 'METRIC' | 'DIMENSION'; semanticGroup: string; semanticType: string }
}

/** One column for each scalar attribute of the list, or of the dataclass if there is no list. */
export function schemaOf(dataClass: DataClass, items: readonly PathListItem[] | undefined, view: View): LookerField[] {
  const all = view.attributes(dataClass).map(({ name }) => name)
  const listedNames = items?.flatMap(({ path: [name, ...behind] }) =>
    name === '*' ? all : behind.length === 0 ? name! : [],
  )
  return [...new Set(listedNames ?? all)].flatMap(name => {
    const attribute = view.attribute(dataClass, name)
    const type = attribute && lookerType(attribute)
    return type ? { name, ...type } : []
  })
}

/** @returns undefined for a type that is not a scalar */
function lookerType(attribute: Attribute): Omit<LookerField, 'name'> | undefined {
  if (attribute.kind === 'alias') {
    const isSingle = attribute.relations.every(({ kind }) => kind === 'relatedEntity')
    return isSingle ? lookerType(attribute.target) : undefined
  }
  if (attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities') return undefined
  switch (TYPES[attribute.type].aggregates) {
    case 'json':
    case 'opaque':
      return undefined
    case 'text':
      return dimension('STRING', 'TEXT', 'TEXT')
    case 'bool':
      return dimension('BOOLEAN', 'BOOLEAN', 'BOOLEAN')
    case 'date': {
      const isDay = attribute.kind === 'storage' && attribute.simpleDate
      return dimension('STRING', 'DATETIME', isDay ? 'YEAR_MONTH_DAY' : 'YEAR_MONTH_DAY_SECOND')
    }
    case 'number':
      return {
        dataType: 'NUMBER',
        semantics: { conceptType: 'METRIC', semanticGroup: 'NUMERIC', semanticType: 'NUMBER' },
      }
  }
}

const dimension = (
  dataType: LookerField['dataType'],
  semanticGroup: string,
  semanticType: string,
): Omit<LookerField, 'name'> => ({ dataType, semantics: { conceptType: 'DIMENSION', semanticGroup, semanticType } })
