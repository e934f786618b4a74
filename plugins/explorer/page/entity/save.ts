/** Saves and deletions, and undoing the last of them. */
import { type Attribute, attributeOf, type DataClass } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { entityPath } from '../base/paths.ts'
import { ask, readWithHead, RestError } from '../base/rest.ts'
import { complain, lastChange, notice, notify, runWork } from '../base/work.ts'
import { hasWritten } from '../base/writes.ts'
import { close } from './close.ts'
import { changedValues, type Values } from './changes.ts'
import type { Draft } from './draft.ts'
import { editorOf } from './editor.ts'
import { entityOf, objectOf } from './json-text.ts'
import {
  type Entity,
  labelText,
  linkedEntity,
  loadEntity,
  type LoadedEntity,
  loadJson,
  storedAt,
} from './load-entity.ts'
import { text } from './texts.ts'
import { upload } from './upload.ts'

/** Error code: others have saved the entity since it was read. */
const STALE_STAMP = 1263
/** Maximum size of an image or a blob that is kept for undoing a change. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024

/** Others have changed an entity since it was shown. */
class ChangedSince extends Error {}

export const isStale = (error: unknown): boolean =>
  error instanceof ChangedSince ||
  (error instanceof RestError && error.faults.some(({ errCode }) => errCode === STALE_STAMP))

interface Saved {
  readonly __KEY: string
  readonly __STAMP: number
}

/** @param version the entity that is changed; undefined for a new one */
const save = ({ name, key }: DataClass, values: Values, version?: Saved): Promise<Saved> =>
  ask<Saved>(name, { $method: 'update', $attributes: key[0]?.name }, { body: entityOf(values, version) })

/**
 * Saves the changes of the user, and offers to undo them.
 * @returns the key, or undefined if the save was cancelled
 * @throws {RestError} the server refuses the save
 */
export async function saveDraft(of: Draft): Promise<string | undefined> {
  const { dataClass, base } = of
  const values = changedValues(of)
  const names = [...values.map(([name]) => name), ...of.files.keys()]
  const before = base && (await valuesOf(dataClass, base, names))
  const files = await uploadAll(dataClass, of.files)
  if (!files) return undefined
  const savedEntity = await save(dataClass, [...values, ...files], base?.entity)
  hasWritten(dataClass.name)
  const changes: object = JSON.parse(objectOf(values))
  const label = labelText(dataClass, { ...base?.entity, ...changes, ...savedEntity }, savedEntity.__KEY)
  const undo = async (): Promise<string | undefined> => {
    if (before) return saveValues(dataClass, before, savedEntity)
    await deleteVersion(dataClass, savedEntity.__KEY, `"${savedEntity.__STAMP}"`)
    if (place.value.query.entity === savedEntity.__KEY) close()
    return undefined
  }
  offerUndo(dataClass, text(base ? 'saved' : 'created', { label }), undo)
  return savedEntity.__KEY
}

/** Deletes an entity only if its version is the one that a tag names. */
const deleteVersion = ({ name }: DataClass, key: string, tag: string): Promise<unknown> =>
  ask(entityPath(name, key), { $method: 'delete' }, { method: 'POST', headers: { 'If-Match': tag } })

/**
 * Deletes the shown version of an entity, and offers to create it again.
 * @throws {RestError} the server refuses it
 * @throws {ChangedSince}
 */
export async function deleteEntity(dataClass: DataClass, shownEntity: Entity): Promise<void> {
  const key = shownEntity.__KEY
  // The tag is read first: a change by others after that makes the deletion fail.
  const { response } = await readWithHead(entityPath(dataClass.name, key), { $attributes: dataClass.key[0]?.name })
  const tag = response.headers.get('ETag') ?? `"${shownEntity.__STAMP}"`
  const original = await loadEntity(dataClass, key)
  const { entity } = original
  // An entity that was deleted and recreated may have the same stamp.
  if (entity.__STAMP !== shownEntity.__STAMP || entity.__TIMESTAMP !== shownEntity.__TIMESTAMP) throw new ChangedSince()
  const attributes = dataClass.attributes.filter(each => editorOf(each, true) || each.identifying)
  const json = new Map(original.json)
  for (const name of original.large) json.set(name, await loadJson(dataClass, key, name))
  const before = await valuesOf(
    dataClass,
    { ...original, json },
    attributes.map(({ name }) => name),
  )
  await deleteVersion(dataClass, key, tag)
  hasWritten(dataClass.name)
  offerUndo(dataClass, text('deleted', { label: labelText(dataClass, entity, key) }), async () => {
    const unwritable = dataClass.attributes.filter(
      each => each.kind === 'storage' && each.readOnly && (entity[each.name] ?? null) !== null,
    )
    return saveValues(
      dataClass,
      before,
      undefined,
      unwritable.map(({ name }) => name),
    )
  })
}

/** @param undo may return a message about what could not be undone */
export function offerUndo(dataClass: DataClass, message: string, undo: () => Promise<string | undefined>): void {
  let isDone = false
  const run = (): void => {
    if (isDone) return
    isDone = true
    undo().then(
      warning => {
        hasWritten(dataClass.name)
        if (lastChange.value === offer) lastChange.value = undefined
        notify(warning ?? text('undone'))
      },
      (error: unknown) => {
        isDone = false
        complain(isStale(error) ? new Error(text('changedSince')) : error)
      },
    )
  }
  const offer = { kind: 'done', text: message, action: { label: text('undo'), run } } as const
  lastChange.value = offer
  notice.value = undefined
}

/** A value that can be saved again: as JSON; images and blobs with their bytes, undefined if these are too large to be kept. */
type Kept = string | { readonly file: Blob; readonly kind: 'image' | 'blob' } | undefined
type KeptValues = ReadonlyMap<string, Kept>

async function valuesOf(
  dataClass: DataClass,
  { entity, json }: LoadedEntity,
  names: readonly string[],
): Promise<KeptValues> {
  const keepValue = async (name: string): Promise<Kept> => {
    const attribute = attributeOf(dataClass, name)
    const kind = attribute && fileKind(attribute)
    if (kind) {
      const uri = storedAt(entity[name])
      if (uri === undefined) return 'null'
      const file = await keptFile(uri)
      return file && { file, kind }
    }
    const link = attribute?.kind === 'relatedEntity' ? linkedEntity(entity[name]) : undefined
    return link ? objectOf([['__KEY', JSON.stringify(link.key)]]) : (json.get(name) ?? 'null')
  }
  return new Map(await Promise.all(names.map(async name => [name, await keepValue(name)] as const)))
}

async function keptFile(uri: string): Promise<Blob | undefined> {
  const response = await fetch(uri)
  if (response.ok && Number(response.headers.get('Content-Length') ?? 0) <= MAX_KEPT_BYTES) return response.blob()
  await response.body?.cancel()
  return undefined
}

/**
 * @param version the entity that is changed; undefined for a new one
 * @param lostNames attributes whose values were not kept
 * @returns a message about lost values
 */
async function saveValues(
  dataClass: DataClass,
  keptValues: KeptValues,
  version: Saved | undefined,
  lostNames: string[] = [],
): Promise<string | undefined> {
  const values: (readonly [string, string])[] = []
  const signal = new AbortController().signal
  for (const [name, value] of keptValues) {
    if (value === undefined) lostNames.push(name)
    else if (typeof value === 'string') values.push([name, value])
    else values.push([name, JSON.stringify({ ID: await upload(value.file, value.kind, signal, () => {}) })])
  }
  await save(dataClass, values, version)
  return lostNames.length > 0 ? text('undoneWithout', { names: lostNames.join(', ') }) : undefined
}

/** @returns ids of uploads by attribute; undefined if the upload was cancelled */
async function uploadAll(dataClass: DataClass, files: ReadonlyMap<string, File | null>): Promise<Values | undefined> {
  const values: (readonly [string, string])[] = []
  for (const [name, file] of files) {
    const kind = fileKind(attributeOf(dataClass, name)!)!
    const ID =
      file &&
      (await runWork(text('uploading', { name: file.name }), ({ signal, report }) =>
        upload(file, kind, signal, report),
      ))
    if (ID === undefined) return undefined
    values.push([name, JSON.stringify(ID && { ID })])
  }
  return values
}

export function fileKind(attribute: Attribute): 'image' | 'blob' | undefined {
  const { type } = attribute
  return type === 'image' || type === 'blob' ? type : undefined
}
