import { isLongNumber } from '../../../engine/base/exact-json.ts'
import { parseDate } from '../../../engine/base/time/read-date.ts'
import type { ClassPlan } from './class-plan.ts'
import {
  ahead,
  createSet,
  type EntitySet,
  PageSize,
  pagesOf,
  releaseSet,
  type SourceEntity,
  withNewSets,
} from './entity-pages.ts'
import { keyOf } from './find-foreign-key.ts'
import { Gone, type Source } from './source.ts'
import type { StampTable } from './stamp-table.ts'
import type { Refusal, Target } from './target.ts'

/** Outcome of one pass over a dataclass. */
export interface Changes {
  added: number
  changed: number
  removed: number
  /** Entities that the source has. */
  count: number
  /** Entities that the store refuses, by key. */
  refusals: Map<string, Refusal>
}

export const noChanges = (): Changes => ({ added: 0, changed: 0, removed: 0, count: 0, refusals: new Map() })

interface CopyOptions {
  readonly source: Source
  readonly target: Target
  readonly onProgress: (copiedCount: number, total: number) => void
  /** Sizes of pages, which are kept from pass to pass. */
  readonly sizes: { readonly entities: PageSize; readonly stamps: PageSize }
}

export const pageSizes = (): CopyOptions['sizes'] => ({ entities: new PageSize(1000), stamps: new PageSize(10_000) })

/** Maximum distance of positions whose entities are requested together. */
const NEAR = 20
/** Number of entities whose images and blobs are requested together; the source has its own limit. */
const TOGETHER = 8
/** Maximum characters of the JSON of images and blobs in one save. */
const SAVED_CHARACTERS = 8 * 2 ** 20
const REMOVED_AT_ONCE = 1000

/**
 * Makes the entities of a dataclass in the store equal to those of the source, as of a moment in between: adds and changes entities whose
 * stamps differ, and removes entities that the source does not have. Entities that are already in the store are not copied again, so an
 * interrupted copy continues when it is repeated.
 * @param changes outcome, also of a copy that fails; added to the outcome of an earlier copy
 * @throws {SourceError} errors of the store
 */
export async function copyClass(plan: ClassPlan, options: CopyOptions, changes = noChanges()): Promise<Changes> {
  changes.refusals.clear()
  const progress = (): number => changes.added + changes.changed
  await withNewSets(plan.name, progress, () => new Copy(plan, options, changes).run())
  return changes
}

class Copy {
  private stamps!: StampTable
  private readonly attributes: string[]

  constructor(
    private readonly plan: ClassPlan,
    private readonly options: CopyOptions,
    private readonly changes: Changes,
  ) {
    this.attributes = sourceAttributes(plan)
  }

  async run(): Promise<void> {
    const { plan, changes } = this
    const { source, target, sizes } = this.options
    this.stamps = await target.stamps(plan)
    const set = await createSet(source, plan.name)
    try {
      const isEmpty = this.stamps.size === 0
      const ranges: (readonly [number, number])[] = isEmpty ? [[0, set.count]] : await this.differences(set)
      let count = isEmpty ? 0 : changes.count
      for (const range of ranges) {
        for await (const { entities, at } of ahead(pagesOf(source, set, this.attributes, range, sizes.entities))) {
          await this.save(entities)
          if (isEmpty) count += entities.filter(isThere).length
          this.options.onProgress(at + entities.length, set.count)
        }
      }
      changes.count = count
      if (this.stamps.seenCount < this.stamps.size && !isEmpty) await this.remove()
    } catch (error) {
      if (!(error instanceof Gone)) await releaseSet(source, set)
      throw error
    }
    await releaseSet(source, set)
  }

  /** Ranges of positions of entities whose present version is not in the store. Marks the keys of all entities. */
  private async differences(set: EntitySet): Promise<[number, number][]> {
    const { plan, changes } = this
    const { source, target, sizes } = this.options
    const ranges: [number, number][] = []
    const stampAttributes = plan.isKeyHidden ? plan.values.slice(0, 1) : [plan.key]
    changes.count = 0
    for await (const { at, entities } of ahead(pagesOf(source, set, stampAttributes, [0, set.count], sizes.stamps))) {
      entities.forEach((entity, index) => {
        if (!isThere(entity)) return
        changes.count++
        const stamp = this.stamps.see(target.keyText(plan.name, String(entity.__KEY)))
        if (stamp === stampOf(entity)) return
        const last = ranges.at(-1)
        if (last && at + index - last[1] < NEAR) last[1] = at + index + 1
        else ranges.push([at + index, at + index + 1])
      })
    }
    return ranges
  }

  private async save(entities: readonly SourceEntity[]): Promise<void> {
    const { plan, stamps } = this
    const { target } = this.options
    const open = entities.filter(isThere).flatMap(entity => {
      const key = target.keyText(plan.name, String(entity.__KEY))
      const knownStamp = stamps.get(key)
      return knownStamp === stampOf(entity) ? [] : [{ entity, key, isKnown: knownStamp !== undefined }]
    })
    let batch: typeof open = []
    let values: Record<string, unknown>[] = []
    let characters = 0
    const flush = async (): Promise<void> => {
      if (values.length > 0) await this.write(batch, values)
      batch = []
      values = []
      characters = 0
    }
    for (let start = 0; start < open.length; start += TOGETHER) {
      const some = open.slice(start, start + TOGETHER)
      const binaries = await Promise.all(some.map(({ entity }) => this.binariesOf(entity)))
      some.forEach((each, index) => {
        const binaryValues = binaries[index]
        // The entity has been deleted meanwhile, which the next pass detects.
        if (!binaryValues) return
        batch.push(each)
        values.push({ ...(each.isKnown && { __KEY: each.key }), ...entityOf(plan, each.entity), ...binaryValues })
        for (const value of Object.values(binaryValues)) characters += typeof value === 'string' ? value.length : 0
      })
      if (characters > SAVED_CHARACTERS) await flush()
    }
    await flush()
  }

  private async write(
    batch: readonly { entity: SourceEntity; key: string; isKnown: boolean }[],
    values: readonly Record<string, unknown>[],
  ): Promise<void> {
    const { plan, stamps, changes } = this
    const refusals = new Map((await this.options.target.save(plan, values)).map(each => [each.key, each]))
    batch.forEach(({ entity, key, isKnown }, index) => {
      const refusal = refusals.get(String(values[index]![plan.key]))
      if (refusal) {
        changes.refusals.set(key, refusal)
        return
      }
      stamps.add(key, stampOf(entity))
      if (isKnown) changes.changed++
      else changes.added++
    })
  }

  /** @returns undefined if the entity no longer exists */
  private async binariesOf(entity: SourceEntity): Promise<Record<string, unknown> | undefined> {
    const { plan } = this
    const { source, target } = this.options
    if (plan.binaries.length === 0) return {}
    try {
      const entries = plan.binaries.map(async name => {
        const link = linkOf(entity[name])
        if (link === undefined) return [name, null] as const
        const value = await source.binary(link.uri, (body, type) => target.receive(body, type, link.isImage))
        return [name, value] as const
      })
      return Object.fromEntries(await Promise.all(entries))
    } catch (error) {
      if (error instanceof Gone) return undefined
      throw error
    }
  }

  private async remove(): Promise<void> {
    const { plan, stamps, changes } = this
    const { target } = this.options
    const keys: string[] = []
    for await (const rows of target.rows(plan)) {
      for (const { __KEY } of rows) if (!stamps.isSeen(__KEY)) keys.push(__KEY)
    }
    for (let start = 0; start < keys.length; start += REMOVED_AT_ONCE)
      await target.remove(plan.name, keys.slice(start, start + REMOVED_AT_ONCE))
    changes.removed += keys.length
  }
}

/** Attributes to request. */
export const sourceAttributes = ({ values, binaries, links }: ClassPlan): string[] => [
  ...values,
  ...binaries,
  ...links.map(({ relation }) => relation),
]

/** Values of an entity without images and blobs, as they are saved. */
export function entityOf(plan: ClassPlan, entity: SourceEntity): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name of plan.values) values[name] = valueFrom(entity[name])
  for (const { relation, attribute } of plan.links) values[attribute] = keyOf(entity[relation]) ?? null
  if (plan.isKeyHidden) values[plan.key] = String(entity.__KEY)
  values[plan.stamp] = stampOf(entity)
  return values
}

/** True for an existing entity. Deleted members of a set have only a stamp of 0. Source: base specification, 3. */
export const isThere = (entity: SourceEntity): boolean => entity.__KEY !== undefined && entity.__KEY !== null

const STAMPS = 2048

/**
 * Version of an entity: its stamp and the time of its last change, since an entity that is deleted and created again starts with the first
 * stamp. Exact until the year 2109.
 */
export function stampOf({ __STAMP, __TIMESTAMP }: SourceEntity): number {
  const stamp = Number(__STAMP ?? 0)
  const ms = typeof __TIMESTAMP === 'string' ? (parseDate(__TIMESTAMP) ?? 0) : 0
  return ms > 0 ? ms * STAMPS + (stamp % STAMPS) : stamp
}

/** Matches the dates that 4D sends for missing dates. */
const NO_DATE = /^(?:0+!0+!0+|0000-00-00(?:T.*)?)$/

const valueFrom = (value: unknown): unknown =>
  value === undefined || (typeof value === 'string' && NO_DATE.test(value)) ? null : value

/** Link to an image or blob. Source: base specification, 2.5. */
export function linkOf(value: unknown): { uri: string; isImage: boolean } | undefined {
  const { __deferred } = (typeof value === 'object' && value !== null && !isLongNumber(value) ? value : {}) as {
    __deferred?: { uri?: unknown; image?: unknown }
  }
  return typeof __deferred?.uri === 'string' ? { uri: __deferred.uri, isImage: __deferred.image === true } : undefined
}
