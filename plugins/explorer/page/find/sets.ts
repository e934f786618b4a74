/** Entity sets that the user has kept, in this browser; the server holds them for a limited time. */
import { storedSignalOfUser } from '../base/remembered.ts'
import { entitySetPath } from '../base/paths.ts'
import { ask, type Parameters, read, RestError } from '../base/rest.ts'
import { parametersOf, pathOf, type Selection } from '../base/selection.ts'

export interface KeptSet {
  readonly id: string
  readonly name: string
  readonly count: number
  /** Time of its last use. */
  readonly usedAt: number
}

/** Requested lifetime of a set without use. */
const LIFETIME_SECONDS = 7_200

export const OPERATORS = ['AND', 'OR', 'EXCEPT'] as const
type Operator = (typeof OPERATORS)[number]

/** Kept sets by dataclass. */
export const sets = storedSignalOfUser<Readonly<Record<string, readonly KeptSet[]>>>('find.sets', {})

const change = (dataClass: string, by: (all: readonly KeptSet[]) => readonly KeptSet[]): void => {
  sets.value = { ...sets.value, [dataClass]: by(sets.value[dataClass] ?? []) }
}
export const forgetSet = (dataClass: string, id: string): void =>
  change(dataClass, all => all.filter(each => each.id !== id))

/** End of a set that is not used again. */
export const endOf = ({ usedAt }: KeptSet): number => usedAt + LIFETIME_SECONDS * 1_000

interface SetAnswer {
  readonly __COUNT: number
  readonly __ENTITYSET?: string
}

/** Keeps the selection as a set. */
export async function keepSelection(selection: Selection, name: string): Promise<void> {
  const { dataClass } = selection
  await keep(dataClass.name, name, parameters => read(pathOf(selection), { ...parametersOf(selection), ...parameters }))
}

/** Keeps the combination of two sets. */
export async function keepCombined(
  dataClass: string,
  [one, other]: readonly [KeptSet, KeptSet],
  operator: Operator,
  name: string,
): Promise<KeptSet> {
  const combining = { $logicOperator: operator, $otherCollection: other.id }
  return keep(dataClass, name, parameters => ask(entitySetPath(dataClass, one.id), { ...combining, ...parameters }))
}

async function keep(
  dataClass: string,
  name: string,
  make: (parameters: Parameters) => Promise<SetAnswer>,
): Promise<KeptSet> {
  const answer = await make({ $method: 'entityset', $timeout: LIFETIME_SECONDS, $top: 0 })
  const id = answer.__ENTITYSET!.split('/').at(-1)!
  const set: KeptSet = { id, name, count: answer.__COUNT, usedAt: Date.now() }
  change(dataClass, all => [...all.filter(each => each.id !== id && each.name !== name), set])
  return set
}

/** Number of entities in the combination of two sets. */
export async function countCombined(
  dataClass: string,
  one: string,
  other: string,
  operator: Operator,
  signal: AbortSignal,
): Promise<number> {
  const parameters = { $logicOperator: operator, $otherCollection: other, $top: 0 }
  const { __COUNT } = await ask<SetAnswer>(entitySetPath(dataClass, one), parameters, { signal })
  return __COUNT
}

/**
 * Number of entities in a set; the request prolongs the life of the set.
 * @returns undefined if the set has ended
 */
export async function countSet(dataClass: string, id: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { __COUNT } = await ask<SetAnswer>(entitySetPath(dataClass, id), { $top: 0 }, { signal })
    change(dataClass, all => all.map(each => (each.id === id ? { ...each, count: __COUNT, usedAt: Date.now() } : each)))
    return __COUNT
  } catch (error) {
    if (error instanceof RestError && error.faults.some(({ errCode }) => errCode === UNKNOWN_SET)) return undefined
    throw error
  }
}

const UNKNOWN_SET = 1802

/** Releases a set, which may already have ended. */
export async function release(dataClass: string, id: string): Promise<void> {
  await ask(`${dataClass}/$entityset/$release`, {}, { body: [id] })
  forgetSet(dataClass, id)
}
