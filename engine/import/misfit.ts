import type { Attribute } from '../catalog/attribute.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { withDigits } from '../catalog/types/with-digits.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { csvValue } from './row-reader.ts'
import type { FileSample } from './sample-file.ts'
import { cellText } from './table-file.ts'

/** A value that an attribute cannot hold. */
interface Misfit {
  readonly text: string
  /** Why it cannot. */
  readonly reason: string
}

/** The first value of a column that a load would not convert to the type of its attribute. */
export function firstMisfit(
  attribute: Attribute,
  values: readonly unknown[],
  { hasFields }: FileSample,
  format: ForeignFormat,
): Misfit | undefined {
  if (attribute.kind !== 'storage') return undefined
  const type = TYPES[attribute.type]
  for (const value of values) {
    if (value === null || value === undefined) continue
    const text = cellText(value)
    try {
      const read = hasFields ? csvValue(attribute, text, format) : value
      if (read === null) continue
      const converted = type.convert(withDigits(attribute.type, read), attribute, true)
      if (converted instanceof Mismatch) return { text, reason: `a value of this type is ${converted.expected}` }
    } catch (error) {
      // Wrong JSON, or a date without a century.
      return { text, reason: (error as Error).message }
    }
  }
  return undefined
}
