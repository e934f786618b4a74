import { createHash } from 'node:crypto'
import type { ClassPlan } from './class-plan.ts'
import { entityOf, isThere, linkOf, sourceAttributes, stampOf } from './copy-class.ts'
import { createSet, PageSize, pagesOf, releaseSet, type SourceEntity, withNewSets } from './entity-pages.ts'
import { Gone, type Source, SourceError } from './source.ts'
import type { StampTable } from './stamp-table.ts'
import type { Target } from './target.ts'

/** Number of runs of consecutive entities of a dataclass whose values are compared, spread over the dataclass. */
const RUNS = 4
const RUN_ENTITIES = 25
/** Entities of each run whose images and blobs are compared too. */
const RUN_BINARIES = 2

/**
 * Compares the values of some entities of the source with those of the store.
 * @returns number of entities
 * @throws {SourceError} they differ
 */
export async function compareValues(plan: ClassPlan, source: Source, target: Target): Promise<number> {
  const stamps = await target.stamps(plan)
  let comparedCount = 0
  let ranges: [number, number][] | undefined
  const read = async (): Promise<void> => {
    const set = await createSet(source, plan.name)
    ranges ??= runsOf(set.count)
    try {
      for (; ranges.length > 0; ranges.shift()) {
        const size = new PageSize(RUN_ENTITIES)
        for await (const { entities } of pagesOf(source, set, sourceAttributes(plan), ranges[0]!, size))
          comparedCount += await compare(plan, entities.filter(isThere), stamps, source, target)
      }
    } finally {
      await releaseSet(source, set)
    }
  }
  await withNewSets(plan.name, () => -(ranges?.length ?? 0), read)
  return comparedCount
}

/** Positions of the runs; all positions for a small dataclass. */
function runsOf(count: number): [number, number][] {
  const runs = Math.min(RUNS, Math.ceil(count / RUN_ENTITIES))
  return Array.from({ length: runs }, (_, run) => {
    const from = run === 0 ? 0 : Math.floor((run * (count - RUN_ENTITIES)) / (runs - 1))
    return [from, Math.min(from + RUN_ENTITIES, count)]
  })
}

async function compare(
  plan: ClassPlan,
  entities: readonly SourceEntity[],
  stamps: StampTable,
  source: Source,
  target: Target,
): Promise<number> {
  const { name, stamp } = plan
  // The other entities have been changed, added or refused since.
  const same = entities.filter(entity => stamps.get(target.keyText(name, String(entity.__KEY))) === stampOf(entity))
  const keys = same.map(({ __KEY }) => target.keyText(name, String(__KEY)))
  const values = same.map(entity => entityOf(plan, entity))
  const names = Object.keys(values[0] ?? {}).filter(each => each !== stamp)
  const storedEntities = keys.length === 0 ? [] : await target.entities(name, keys, names)
  for (const [index, storedEntity] of storedEntities.entries()) {
    for (const each of names) {
      const [theirs, ours] = [values[index]![each], storedEntity[each]].map(json => target.textOf(name, each, json))
      if (theirs !== ours) throw differs(plan, keys[index]!, each)
    }
    if (index >= RUN_BINARIES) continue
    for (const each of plan.binaries) {
      const link = linkOf(same[index]![each])
      const theirs = link && (await digestOf(source, link.uri))
      const ours = await target.digest(name, keys[index]!, each)
      if (theirs !== ours && !(theirs === EMPTY && ours === undefined)) throw differs(plan, keys[index]!, each)
    }
  }
  return same.length
}

async function digestOf(source: Source, uri: string): Promise<string | undefined> {
  try {
    return await source.binary(uri, async body => {
      const hash = createHash('sha256')
      for await (const piece of body) hash.update(piece)
      return hash.digest('hex')
    })
  } catch (error) {
    if (error instanceof Gone) return undefined
    throw error
  }
}

const EMPTY = createHash('sha256').digest('hex')

const differs = ({ name }: ClassPlan, key: string, attribute: string): SourceError =>
  new SourceError(
    `${name}(${key}).${attribute} differs from the source although the stamp is the same; clone it into another folder`,
  )
