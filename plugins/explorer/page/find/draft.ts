/** The filter that is being written, which the page shows when it is applied. */
import { computed, effect, signal } from '@preact/signals'
import { partsOf } from '../base/filter-tokens.ts'
import { change, place } from '../base/place.ts'
import { atLogout, rememberedOfUser } from '../base/remembered.ts'
import { selection } from '../base/selection.ts'
import { columnsWithoutScore, hasScore } from './meaning.ts'
import { quickFilter } from './quick.ts'

/** Filters and orders of the page as one text. An order in the text of a filter has precedence on the server too. */
export const applied = computed(() => {
  if (!selection.value) return ''
  const { filter, order } = selection.value
  return order && !partsOf(filter).order ? `${filter} order by ${order}`.trim() : filter
})

export const draft = signal('')
effect(() => {
  draft.value = applied.value
})
atLogout(() => {
  draft.value = ''
})

/** The columns of the address, without a score that there will not be. */
function columnsFor(filter: string): string | undefined {
  const { columns } = place.value.query
  const { dataClass, similar } = selection.value!
  return similar || hasScore(filter, dataClass) ? columns : columnsWithoutScore(columns)
}

const MAX_RECENT = 12
const MAX_LENGTH = 2_000
/** Texts of filters that were applied, the last one first, by dataclass. */
export const recent = rememberedOfUser<Readonly<Record<string, readonly string[]>>>('find.recent', {})

/** The draft as the server takes it: words become conditions. */
export const effective = computed(() => {
  const dataClass = selection.value?.dataClass
  return (dataClass && quickFilter(draft.value, dataClass)?.filter) ?? draft.value
})

/** Text of a draft in which the builder has a condition without a value. The server is not asked about it. */
export const unfinished = signal('')

/** Shows the selection by a filter, the draft if none is given. */
export function apply(text = effective.value): void {
  const { conditions, order } = partsOf(text)
  change({ filter: conditions, order, columns: columnsFor(conditions) })
  draft.value = applied.value
  const name = selection.value?.dataClass.name
  if (!name || !conditions || text.length > MAX_LENGTH) return
  const others = (recent.value[name] ?? []).filter(each => each !== applied.value)
  recent.value = { ...recent.value, [name]: [applied.value, ...others].slice(0, MAX_RECENT) }
}
