import { Gone, type Source, SourceError, TooMuch } from './source.ts'

/** An entity in an answer. */
export type SourceEntity = Readonly<Record<string, unknown>>

/** A snapshot of the entities of a dataclass: those that existed when it was created, with their present values. */
export interface EntitySet {
  readonly dataClass: string
  readonly id: string
  readonly count: number
}

/** Number of entities in a request: reduced after a request that was too large or took too long, then slowly increased. */
export class PageSize {
  constructor(
    readonly most: number,
    public now = most,
  ) {}

  shrink(from: number): void {
    this.now = Math.max(1, Math.min(this.now, Math.floor(from / 4)))
  }

  grow(): void {
    this.now = Math.min(this.most, Math.ceil(this.now * 1.2))
  }
}

/** Seconds for which a set is kept without a request. */
const SET_SECONDS = 3600

/** @throws {SourceError} */
export async function createSet(source: Source, dataClass: string): Promise<EntitySet> {
  const path = `${encodeURIComponent(dataClass)}?$top=1&$method=entityset&$timeout=${SET_SECONDS}`
  const answer = (await source.json(path)) as { __ENTITYSET?: unknown; __COUNT?: unknown } | null
  const { __ENTITYSET: uri, __COUNT: count } = answer ?? {}
  const id = typeof uri === 'string' ? /\/\$entityset\/([^/?]+)/.exec(uri)?.[1] : undefined
  if (id === undefined || typeof count !== 'number' || !(count >= 0))
    throw new SourceError(`${source.options.url}/${dataClass} does not answer $method=entityset with an entity set`)
  return { dataClass, id, count }
}

export const releaseSet = (source: Source, { dataClass, id }: EntitySet): Promise<void> =>
  source.tell(`${encodeURIComponent(dataClass)}/$entityset/$release`, JSON.stringify([id]))

/** First entities of a dataclass; fewer than `top` if the server refuses that many. */
export async function firstEntities(
  source: Source,
  dataClass: string,
  attributes: readonly string[],
  top: number,
): Promise<SourceEntity[]> {
  try {
    const answer = await source.json(`${classPath(dataClass, attributes)}?$top=${top}`, { mayShrink: top > 1 })
    return entitiesOf(answer, source, dataClass).slice(0, top)
  } catch (error) {
    if (!(error instanceof TooMuch) || top === 1) throw error
    return firstEntities(source, dataClass, attributes, Math.ceil(top / 8))
  }
}

/**
 * Entities at positions of a set, each page with its first position. Deleted entities have no `__KEY`.
 * @throws {Gone} the set has ended
 */
export async function* pagesOf(
  source: Source,
  { dataClass, id }: EntitySet,
  attributes: readonly string[],
  [from, to]: readonly [number, number],
  size: PageSize,
): AsyncGenerator<{ at: number; entities: SourceEntity[] }> {
  for (let at = from; at < to; ) {
    const top = Math.min(size.now, to - at)
    const path = `${classPath(dataClass, attributes)}/$entityset/${id}?$skip=${at}&$top=${top}`
    let entities: SourceEntity[]
    try {
      entities = entitiesOf(await source.json(path, { mayShrink: top > 1 }), source, dataClass).slice(0, top)
    } catch (error) {
      if (!(error instanceof TooMuch) || top === 1) throw error
      size.shrink(top)
      continue
    }
    if (entities.length === 0)
      throw new SourceError(`${source.options.url}/${dataClass} sends no entities from position ${at} of a set on`)
    yield { at, entities }
    at += entities.length
    size.grow()
  }
}

/** Requests the next page while one is processed. */
export async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = pages.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = pages.next()
      // A failure surfaces when the page is awaited; until then it must not count as unhandled.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
  }
}

/** Reads with new sets when old ones end early, as long as that makes progress. @param read returns a number that grows with progress */
export async function withNewSets(dataClass: string, progress: () => number, read: () => Promise<void>): Promise<void> {
  for (let idle = 0; ; ) {
    const before = progress()
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof Gone)) throw error
      idle = progress() > before ? 0 : idle + 1
      if (idle === MAX_IDLE)
        throw new SourceError(`${dataClass}: the server ends entity sets before they can be read: ${error.message}`)
    }
  }
}

const MAX_IDLE = 3

/** Path of a dataclass and attributes. Commas between names are not encoded, as clients of 4D send them. */
const classPath = (dataClass: string, attributes: readonly string[]): string =>
  [dataClass, ...(attributes.length > 0 ? [attributes] : [])]
    .map(part => [part].flat().map(encodeURIComponent).join(','))
    .join('/')

function entitiesOf(answer: unknown, source: Source, dataClass: string): SourceEntity[] {
  const list = (answer as { __ENTITIES?: unknown } | null)?.__ENTITIES
  if (Array.isArray(list) && list.every(each => typeof each === 'object' && each !== null))
    return list as SourceEntity[]
  throw new SourceError(`${source.options.url}/${dataClass} does not answer with entities`)
}
