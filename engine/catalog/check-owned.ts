import type { CheckedDataClass, DataClasses } from './checked-dataclass.ts'
import type { StorageModel } from './model-schema.ts'

/** PostgreSQL cuts longer names, so that they might be equal. */
const MAX_NAME_BYTES = 63
const STAMP_TYPES = ['long', 'long64']

/** Problems of dataclasses whose tables the server makes. Their other options have been checked. */
export function ownedProblems(dataClasses: DataClasses): string[] {
  const problems: string[] = []
  const ownerOf = new Map<string, string>()
  for (const dataClass of dataClasses.values()) {
    const { name, model } = dataClass ?? {}
    if (!dataClass || !name || !model?.storage?.owned) continue
    const { postgres, schema = 'public', table = name } = model.storage
    const path = `dataClasses.${name}`
    const place = JSON.stringify([postgres, schema, table])
    const other = ownerOf.get(place)
    if (other) problems.push(`${path}.storage.table: "${table}" is also the table of ${other}; name another one`)
    ownerOf.set(place, name)
    problems.push(...nameProblems(`${path}.storage.schema`, schema))
    problems.push(...nameProblems(`${path}.storage.table`, table))
    problems.push(...columnProblems(dataClass, path))
  }
  return problems
}

function columnProblems({ name, model, attributes }: CheckedDataClass, path: string): string[] {
  const problems: string[] = []
  const attributeOf = new Map<string, [name: string, model: StorageModel]>()
  for (const [attributeName, attribute] of attributes) {
    const attributePath = `${path}.attributes.${attributeName}`
    if (attribute?.kind === 'calculated' && attribute.stored) {
      problems.push(
        `${attributePath}.stored: is not for a table of a database; without "stored" it is calculated at each read`,
      )
    }
    if (!attribute || (attribute.kind ?? 'storage') !== 'storage') continue
    const { column = attributeName } = attribute as StorageModel
    if (typeof column !== 'string') {
      problems.push(
        `${attributePath}.column: several columns are for tables that exist; the key of an owned table is one column`,
      )
      continue
    }
    problems.push(...nameProblems(`${attributePath}.column`, column))
    const other = attributeOf.get(column)
    if (other) problems.push(`${attributePath}.column: "${column}" is also the column of ${other[0]}; name another one`)
    attributeOf.set(column, [attributeName, attribute as StorageModel])
  }
  const { stamp, timestamp } = model.storage!
  const typeOf = (column: string | undefined): string | undefined => attributeOf.get(column ?? '')?.[1].type
  const stampType = typeOf(stamp)
  if (stampType && !STAMP_TYPES.includes(stampType)) {
    problems.push(
      `${path}.storage.stamp: "${stamp}" has type ${stampType}; a stamp has type ${STAMP_TYPES.join(' or ')}`,
    )
  }
  const timeType = typeOf(timestamp)
  const isDay = timestamp !== undefined && attributeOf.get(timestamp)?.[1].simpleDate
  if (timeType && (timeType !== 'date' || isDay)) {
    problems.push(`${path}.storage.timestamp: "${timestamp}" is not a date with a time of day`)
  }
  if (stamp !== undefined && stamp === timestamp) {
    problems.push(`${path}.storage.timestamp: "${timestamp}" is also the stamp of ${name}; name another column`)
  }
  return problems
}

function nameProblems(path: string, name: string): string[] {
  const bytes = Buffer.byteLength(name)
  return bytes > MAX_NAME_BYTES
    ? [`${path}: "${name}" has ${bytes} bytes; a database keeps ${MAX_NAME_BYTES}, so give a shorter name`]
    : []
}
