import type { Environment } from '../environment.ts'
import { readPosition } from '../store-log.ts'
import { readGlobalStamp, readTableState } from '../store-state.ts'
import { loadSchema } from '../stored-schema.ts'
import { BackupError, type LogPlace, type Manifest } from './manifest.ts'

/** State of a store, as a manifest describes it. */
export type StoreDescription = Pick<Manifest, 'to' | 'stamp' | 'entities' | 'store' | 'schema'>

/** Describes the newest commit of an open store. */
export function describeStore(environment: Environment): StoreDescription {
  environment.root.resetReadTxn()
  const { meta, path } = environment
  if (meta.get('migration') !== undefined)
    throw new BackupError(`a change of the model of the store in ${path} was interrupted; the next start finishes it`)
  const { sequence, hash } = readPosition(environment)
  const counts = loadSchema(environment).catalog.dataClasses.map(
    ({ name, tableNumber }) => [name, readTableState(environment, tableNumber).rowCount] as const,
  )
  return {
    to: { sequence, hash: Buffer.from(hash).toString('hex') },
    stamp: readGlobalStamp(environment),
    entities: Object.fromEntries(counts),
    store: String(meta.get('storeId')),
    schema: String(meta.get('schemaId') ?? 'first'),
  }
}

export const isSamePlace = (one: LogPlace, other: LogPlace): boolean =>
  one.sequence === other.sequence && one.hash === other.hash

const UNLOGGED = 'f'.repeat(32)

/** True if every change of the store moves the position. It does not while the store is used without a log, or before its first record. */
export const isLogged = ({ sequence, hash }: LogPlace): boolean => sequence > 0 && hash !== UNLOGGED

/** Ids of the files of images and blobs that a store refers to. */
export const filesOf = ({ fileReferences }: Environment): string[] =>
  [...fileReferences.getKeys({ start: Buffer.alloc(1) })].map(key => key.toString('hex').toUpperCase())
