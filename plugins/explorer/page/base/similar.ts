/** Similarity of entities to a given one, by a vector of both: `#/Passage?similar=embedding:12`. */
import { computed, effect, signal } from '@preact/signals'
import { attributeOf, isVector } from './model.ts'
import { dataClasses } from './catalog.ts'
import { change, place } from './place.ts'
import { entityPath } from './paths.ts'
import { ask } from './rest.ts'
import { complain } from './work.ts'

export interface Similar {
  /** Name of the vector attribute. */
  readonly attribute: string
  readonly key: string
  readonly vector: readonly number[]
}

interface Wanted extends Omit<Similar, 'vector'> {
  readonly dataClass: string
}

const request = computed<Wanted | undefined>(() => {
  const { path, query } = place.value
  const [, name = '', key = ''] = /^([^:]+):(.+)$/s.exec(query.similar ?? '') ?? []
  const dataClass = dataClasses.value.get(path[0] ?? '')
  const attribute = dataClass && attributeOf(dataClass, name)
  return attribute && isVector(attribute) ? { dataClass: dataClass.name, attribute: name, key } : undefined
})

/** The last vector that was loaded. */
const lastVector = signal<(Similar & { readonly dataClass: string }) | undefined>(undefined)

effect(() => {
  const each = request.value
  if (!each || isOf(each)) return
  load(each).catch((error: unknown) => {
    if (request.peek() !== each) return
    complain(error)
    change({ similar: undefined }, { replace: true })
  })
})

const isOf = (each: Wanted): boolean => {
  const has = lastVector.value
  return has?.dataClass === each.dataClass && has.attribute === each.attribute && has.key === each.key
}

async function load(each: Wanted): Promise<void> {
  const path = `${entityPath(each.dataClass, each.key)}/${each.attribute}`
  const { [each.attribute]: vector } = await ask<Readonly<Record<string, readonly number[] | null>>>(path)
  if (!vector) throw new Error(`${each.dataClass} ${each.key}: ${each.attribute} = null`)
  if (request.peek() === each) lastVector.value = { ...each, vector }
}

/** The entity that the address names; `pending` until its vector has been loaded. */
export const similar = computed<Similar | 'pending' | undefined>(() => {
  if (!request.value) return undefined
  return isOf(request.value) ? lastVector.value : 'pending'
})
