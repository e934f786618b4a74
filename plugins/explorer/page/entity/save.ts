/** Saves, and undoing the last one. */
import { type Attribute, attributeOf, type DataClass } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { entityPath } from '../base/paths.ts'
import { ask, readWithHead, RestError } from '../base/rest.ts'
import { complain, lastChange, notice, notify, runWork } from '../base/work.ts'
import { hasWritten } from '../base/writes.ts'
import { close } from './close.ts'
import { changedInputs, type Draft } from './draft.ts'
import { editorOf, type Input, read } from './editor.ts'
import { type Entity, labelText, linkedEntity, loadEntity, loadValue, storedAt } from './load-entity.ts'
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

const save = ({ name, key }: DataClass, values: object): Promise<Saved> =>
  ask<Saved>(name, { $method: 'update', $attributes: key[0]?.name }, { body: values })

/**
 * Saves the changes of the user, and offers to undo them.
 * @returns the key, or undefined if it was cancelled
 * @throws {RestError} the server refuses it
 */
export async function saveDraft(of: Draft): Promise<string | undefined> {
  const { dataClass, base } = of
  const inputs = changedInputs(of)
  const before = base && (await valuesOf(dataClass, base, [...inputs.keys(), ...of.files.keys()]))
  const files = await uploadAll(dataClass, of.files)
  if (!files) return undefined
  const changes = { ...sentValues(dataClass, inputs), ...files }
  const saved = await save(dataClass, base ? { __KEY: base.__KEY, __STAMP: base.__STAMP, ...changes } : changes)
  hasWritten(dataClass.name)
  const label = labelText(dataClass, { ...base, ...changes, ...saved }, saved.__KEY)
  const undo = async (): Promise<undefined> => {
    if (before) await saveValues(dataClass, before, saved)
    else {
      await deleteVersion(dataClass, saved.__KEY, `"${saved.__STAMP}"`)
      if (place.value.query.entity === saved.__KEY) close()
    }
  }
  offerUndo(dataClass, text(base ? 'saved' : 'created', { label }), undo)
  return saved.__KEY
}

/** Deletes an entity only if its version is the one that a tag names. */
const deleteVersion = ({ name }: DataClass, key: string, tag: string): Promise<unknown> =>
  ask(entityPath(name, key), { $method: 'delete' }, { method: 'POST', headers: { 'If-Match': tag } })

/**
 * Deletes the shown version of an entity, and offers to create it again.
 * @throws {RestError} the server refuses it
 * @throws {ChangedSince}
 */
export async function deleteEntity(dataClass: DataClass, shown: Entity): Promise<void> {
  const key = shown.__KEY
  // The tag is read first: a change by others after that makes the deletion fail.
  const { response } = await readWithHead(entityPath(dataClass.name, key), { $attributes: dataClass.key[0]?.name })
  const tag = response.headers.get('ETag') ?? `"${shown.__STAMP}"`
  const { entity, large } = await loadEntity(dataClass, key)
  // An entity that was deleted and recreated may have the same stamp.
  if (entity.__STAMP !== shown.__STAMP || entity.__TIMESTAMP !== shown.__TIMESTAMP) throw new ChangedSince()
  const attributes = dataClass.attributes.filter(each => editorOf(each, true) || each.identifying)
  const read = { ...entity }
  for (const name of large) read[name] = await loadValue(dataClass, key, name)
  const before = await valuesOf(
    dataClass,
    read,
    attributes.map(({ name }) => name),
  )
  await deleteVersion(dataClass, key, tag)
  hasWritten(dataClass.name)
  offerUndo(dataClass, text('deleted', { label: labelText(dataClass, entity, key) }), async () => {
    await saveValues(dataClass, before)
    const lost = dataClass.attributes.filter(
      each => each.kind === 'storage' && each.readOnly && (entity[each.name] ?? null) !== null,
    )
    return lost.length > 0 ? text('undoneWithout', { names: lost.map(({ name }) => name).join(', ') }) : undefined
  })
}

/** @param undo may return a message about what could not be undone */
export function offerUndo(dataClass: DataClass, done: string, undo: () => Promise<string | undefined>): void {
  let isDone = false
  const run = (): void => {
    if (isDone) return
    isDone = true
    undo().then(
      said => {
        hasWritten(dataClass.name)
        if (lastChange.value === offer) lastChange.value = undefined
        notify(said ?? text('undone'))
      },
      (error: unknown) => {
        isDone = false
        complain(isStale(error) ? new Error(text('changedSince')) : error)
      },
    )
  }
  const offer = { kind: 'done', text: done, action: { label: text('undo'), run } } as const
  lastChange.value = offer
  notice.value = undefined
}

const sentValues = (dataClass: DataClass, inputs: ReadonlyMap<string, Input>): Record<string, unknown> =>
  Object.fromEntries(
    [...inputs].flatMap(([name, input]) => {
      const attribute = attributeOf(dataClass, name)
      const result = attribute && read(attribute, input)
      return result && 'json' in result ? [[name, result.json]] : []
    }),
  )

/** A value that can be saved again; images and blobs with their bytes. */
type Kept = { readonly json: unknown } | { readonly file: Blob; readonly kind: 'image' | 'blob' }
type KeptValues = ReadonlyMap<string, Kept>

async function valuesOf(dataClass: DataClass, entity: Entity, names: readonly string[]): Promise<KeptValues> {
  const kept = await Promise.all(
    names.map(async (name): Promise<readonly [string, Kept] | undefined> => {
      const value = entity[name] ?? null
      const attribute = attributeOf(dataClass, name)
      const link = linkedEntity(value)
      const uri = storedAt(value)
      const kind = attribute && fileKind(attribute)
      if (!kind) return [name, { json: link ? { __KEY: link.key } : value }]
      if (uri === undefined) return [name, { json: null }]
      const file = await keptFile(uri)
      return file && [name, { file, kind }]
    }),
  )
  return new Map(kept.filter(each => each !== undefined))
}

async function keptFile(uri: string): Promise<Blob | undefined> {
  const response = await fetch(uri)
  if (response.ok && Number(response.headers.get('Content-Length') ?? 0) <= MAX_KEPT_BYTES) return response.blob()
  await response.body?.cancel()
  return undefined
}

async function saveValues(dataClass: DataClass, kept: KeptValues, saved?: Saved): Promise<void> {
  const values: Record<string, unknown> = saved ? { __KEY: saved.__KEY, __STAMP: saved.__STAMP } : {}
  const signal = new AbortController().signal
  for (const [name, value] of kept) {
    if ('json' in value) values[name] = value.json
    else values[name] = { ID: await upload(value.file, value.kind, signal, () => {}) }
  }
  await save(dataClass, values)
}

/** @returns ids of uploads by attribute; undefined if it was cancelled */
async function uploadAll(
  dataClass: DataClass,
  files: ReadonlyMap<string, File | null>,
): Promise<Record<string, unknown> | undefined> {
  const values: Record<string, unknown> = {}
  for (const [name, file] of files) {
    const attribute = attributeOf(dataClass, name)
    const kind = attribute && fileKind(attribute)
    if (!kind) continue
    if (!file) {
      values[name] = null
      continue
    }
    const id = await runWork(text('uploading', { name: file.name }), ({ signal, report }) =>
      upload(file, kind, signal, report),
    )
    if (id === undefined) return undefined
    values[name] = { ID: id }
  }
  return values
}

export function fileKind(attribute: Attribute): 'image' | 'blob' | undefined {
  const { type } = attribute
  return type === 'image' || type === 'blob' ? type : undefined
}
