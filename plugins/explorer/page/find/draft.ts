/** The filter that is being written; applying it changes the shown selection. */
import { computed, effect, signal } from '@preact/signals'
import { partsOf } from '../base/filter-tokens.ts'
import { change, place } from '../base/place.ts'
import { atLogout, storedSignalOfUser } from '../base/remembered.ts'
import { selection } from '../base/selection.ts'
import { columnsWithoutScore, hasScore } from './meaning.ts'
import { quickFilter } from './quick.ts'

/** Filter and order of the page as one text. An order in the text of a filter has precedence, as on the server. */
export const currentFilter = computed(() => {
  if (!selection.value) return ''
  const { filter, order } = selection.value
  return order && !partsOf(filter).order ? `${filter} order by ${order}`.trim() : filter
})

export const draft = signal('')
effect(() => {
  draft.value = currentFilter.value
})
atLogout(() => {
  draft.value = ''
})

/** The columns of the address, without the score if the filter yields none. */
function columnsFor(filter: string): string | undefined {
  const { columns } = place.value.query
  const { dataClass, similar } = selection.value!
  return similar || hasScore(filter, dataClass) ? columns : columnsWithoutScore(columns)
}

const MAX_RECENT = 12
const MAX_LENGTH = 2_000
/** Texts of applied filters by dataclass, the most recent first. */
export const recent = storedSignalOfUser<Readonly<Record<string, readonly string[]>>>('find.recent', {})

/** The draft as it is sent to the server: words become conditions. */
export const effective = computed(() => {
  const dataClass = selection.value?.dataClass
  return (dataClass && quickFilter(draft.value, dataClass)?.filter) ?? draft.value
})

/** Text of a draft in which the builder has a condition without a value. It is not sent to the server. */
export const incompleteText = signal('')

/** Applies a filter; by default the draft. */
export function apply(text = effective.value): void {
  const { conditions, order } = partsOf(text)
  change({ filter: conditions, order, columns: columnsFor(conditions) })
  draft.value = currentFilter.value
  const name = selection.value?.dataClass.name
  if (!name || !conditions || text.length > MAX_LENGTH) return
  const otherFilters = (recent.value[name] ?? []).filter(each => each !== currentFilter.value)
  recent.value = { ...recent.value, [name]: [currentFilter.value, ...otherFilters].slice(0, MAX_RECENT) }
}
