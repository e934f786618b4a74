/** The selection that the page shows: a dataclass or an entity set, with a filter and an order. */
import { computed } from '@preact/signals'
import { type DataClass, dataClasses } from './catalog.ts'
import { partsOf } from './filter-tokens.ts'
import { place } from './place.ts'
import { entitySetPath } from './paths.ts'
import { type Parameters, read } from './rest.ts'
import { type Similar, similar } from './similar.ts'

export interface Selection {
  readonly dataClass: DataClass
  /** Id of an entity set; undefined for the whole dataclass. */
  readonly set: string | undefined
  /** Text of `$filter`; empty for none. */
  readonly filter: string
  /** Text of `$orderby`; empty for none. */
  readonly order: string
  /** Entity by similarity to which the others are ordered. */
  readonly similar: Similar | undefined
}

/** The shown selection. Undefined if no dataclass is shown, and until the vector of an entity has been loaded. */
export const selection = computed<Selection | undefined>(() => {
  const { path, query } = place.value
  const dataClass = path.length === 1 ? dataClasses.value.get(path[0]!) : undefined
  if (!dataClass || similar.value === 'pending') return undefined
  const { set, filter = '', order = '' } = query
  return { dataClass, set, filter, order, similar: similar.value }
})

export const pathOf = ({ dataClass, set }: Selection): string =>
  set === undefined ? dataClass.name : entitySetPath(dataClass.name, set)

/** Parameters of a request for the selection, without paging. */
export const parametersOf = ({ filter, order, similar }: Selection): Parameters => ({
  $filter: inQuotes(similar ? withSimilar(filter, similar.attribute) : filter),
  $orderby: inQuotes(order),
  // Without a threshold every entity with a vector is selected.
  $params: similar && JSON.stringify([{ vector: similar.vector, threshold: null }]),
})

/** Keeps the selection as an entity set, so that other clients' writes neither repeat nor skip an entity. @returns its path */
export async function createSet(
  selection: Selection,
  parameters: Parameters,
  seconds: number,
  signal?: AbortSignal,
): Promise<string> {
  const { __ENTITYSET } = await read<{ __ENTITYSET: string }>(
    pathOf(selection),
    { ...parameters, $method: 'entityset', $timeout: seconds, $top: 0 },
    signal,
  )
  return entitySetPath(selection.dataClass.name, /\$entityset\/([^/?]+)/.exec(__ENTITYSET)![1]!)
}

const inQuotes = (text: string): string => text && `"${text}"`

function withSimilar(filter: string, attribute: string): string {
  const { conditions, order } = partsOf(filter)
  const similarity = `${/^[\w$-]+$/.test(attribute) ? attribute : `"${attribute}"`} > :1`
  return `${similarity}${conditions && ` and (${conditions})`}${order && ` order by ${order}`}`
}
