import type { Attribute } from '../catalog/attribute.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { csvValue } from './row-reader.ts'
import { cellText } from './table-file.ts'

/** A value that an attribute cannot hold. */
export interface Misfit {
  /** Index of its row in the sample. */
  readonly row: number
  readonly text: string
  /** Reason why the attribute cannot hold it. */
  readonly reason: string
}

/** The values of a column that a load would not convert to the type of its attribute. */
export function* misfits(
  attribute: Attribute,
  values: readonly unknown[],
  { hasFields }: { readonly hasFields: boolean },
  format: ForeignFormat,
): Generator<Misfit> {
  if (attribute.kind !== 'storage') return
  const type = TYPES[attribute.type]
  // The text of any value is valid here.
  const isText = hasFields || attribute.type === 'string'
  for (const [row, value] of values.entries()) {
    if (value === null || value === undefined) continue
    const text = cellText(value)
    try {
      const read = isText ? csvValue(attribute, text, format) : value
      if (read === null) continue
      const convertedValue = type.convert(read, attribute, true)
      if (convertedValue instanceof Mismatch)
        yield { row, text, reason: `a value of this type is ${convertedValue.expected}` }
    } catch (error) {
      // Invalid JSON, or a date without a century.
      yield { row, text, reason: (error as Error).message }
    }
  }
}
