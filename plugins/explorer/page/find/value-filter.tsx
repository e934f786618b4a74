import { conditionOn, addCondition, narrowedByOther } from '../base/condition.ts'
import { format } from '../base/format.ts'
import type { Attribute } from '../base/model.ts'
import { change } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { text } from './texts.ts'

const MAX_NAME = 24

interface ValueFilterProps {
  /** Path of the attribute, starting at the shown dataclass. */
  readonly path: string
  readonly attribute: Attribute
  /** Values at the path. Several values, after 1→N relations, have no condition. */
  readonly values: readonly unknown[]
}

/** Buttons that narrow the filter to a value, or exclude it. Absent for values that no condition can express. */
export function ValueFilter({ path, attribute, values }: ValueFilterProps) {
  if (values.length !== 1 || attribute.kind === 'relatedEntities') return null
  const value = nameable(values[0], attribute)
  const { filter } = selection.value!
  const condition = conditionOn(path, attribute, value)
  const without = narrowedByOther(filter, path, attribute, value)
  if (condition === undefined || without === undefined) return null
  const valueText = format(value, attribute)
  const name = valueText === '' ? '∅' : valueText.length > MAX_NAME ? `${valueText.slice(0, MAX_NAME)}…` : valueText
  return (
    <>
      <button
        type="button"
        class="quiet"
        title={condition}
        onClick={() => change({ filter: addCondition(filter, condition) })}
      >
        = {name}
        <span class="unseen">{text('only')}</span>
      </button>
      <button type="button" class="quiet" title={without} onClick={() => change({ filter: without })}>
        ≠ {name}
        <span class="unseen">{text('without')}</span>
      </button>
    </>
  )
}

/** A value that conditions can name: for an N→1 relation, the key of the entity. */
function nameable(value: unknown, { kind }: Attribute): unknown {
  if (kind !== 'relatedEntity' || typeof value !== 'object' || value === null) return value
  const { __KEY, __deferred } = value as { readonly __KEY?: string; readonly __deferred?: { readonly __KEY?: string } }
  return __KEY ?? __deferred?.__KEY ?? value
}
