/** Mapping of the columns of a file to attributes. */
import type { Attribute, DataClass } from '../base/model.ts'
import { plainName } from '../base/plain-name.ts'

/** Attributes by the names of columns; null for a column that is left out. */
export type Mapping = Readonly<Record<string, string | null>>

interface FileColumn {
  readonly name: string
  /** The attribute to which the server maps the column. */
  readonly attribute: string | null
}

/** Attributes to which columns can be mapped: stored ones, and relations, by the key of the related entity. */
export const importTargets = ({ attributes }: DataClass): readonly Attribute[] =>
  attributes.filter(({ kind }) => kind === 'storage' || kind === 'relatedEntity')

/** Maps columns by their names, whatever their case, blanks and punctuation. No attribute is mapped twice. */
export function proposeMapping(columns: readonly FileColumn[], dataClass: DataClass): Mapping {
  const takenNames = new Set(columns.map(({ attribute }) => attribute))
  const targets = importTargets(dataClass)
  const mapping: Record<string, string | null> = Object.create(null)
  for (const { name, attribute } of columns) {
    const columnName = plainName(name)
    const similar = targets.find(
      each => !takenNames.has(each.name) && columnName !== '' && plainName(each.name) === columnName,
    )
    mapping[name] = attribute ?? mapping[name] ?? similar?.name ?? null
    takenNames.add(mapping[name])
  }
  return mapping
}

/** The value of `$columns`: the mappings that do not follow from the names of columns. Empty if all of them do. */
export function columnsParameter(mapping: Mapping): string {
  const explicitEntries = Object.entries(mapping).filter(([name, attribute]) => name !== attribute)
  return explicitEntries.length === 0 ? '' : JSON.stringify(Object.fromEntries(explicitEntries))
}

/** A mapping in which no attribute has two columns: the first column keeps it. */
export function withoutTwice(mapping: Mapping): Mapping {
  const takenNames = new Set<string | null>()
  return Object.fromEntries(
    Object.entries(mapping).map(([name, attribute]) => {
      const mappedName = takenNames.has(attribute) ? null : attribute
      takenNames.add(attribute)
      return [name, mappedName]
    }),
  )
}

/** Attributes that several columns have. */
export function mappedTwice(mapping: Mapping): readonly string[] {
  const mappedNames = Object.values(mapping).filter(name => name !== null)
  return [...new Set(mappedNames.filter((name, at) => mappedNames.indexOf(name) !== at))]
}
